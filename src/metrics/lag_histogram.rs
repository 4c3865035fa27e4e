//! [`LagHistogram`]: how late timers fire. Recording a lag takes a few instructions.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

/// The width of the first bucket, in nanoseconds. It is a sixteenth of a millisecond, so that wider
/// buckets begin at 1, 2, 4, … ms.
const FIRST: u64 = 62_500;
/// The number of buckets. The last one begins at 62.5 µs · 2²⁰ = 65.536 s.
const BUCKETS: usize = 22;

/// A histogram of lag: how long after its deadline each timer fired.
///
/// The buckets end at 62.5 µs, 125 µs, 250 µs, 500 µs, 1 ms, 2 ms and so on up to 65.536 s, and the
/// last bucket has no end. Tokio's timer wakes the driver on whole milliseconds, so on a healthy
/// runtime nearly all timers are in the buckets below 2 ms.
///
/// # Examples
///
/// ```
/// use wheel::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// wheel::sleep(Duration::from_millis(50)).await;
///
/// let lag = wheel::metrics().snapshot().lag;
/// assert_eq!(lag.count(), 1);
/// assert!(lag.max() <= lag.quantile(1.0));
/// for (range, timers) in lag.buckets() {
///     println!("{range:?}: {timers}");
/// }
/// # }
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct LagHistogram {
    buckets: [Bucket; BUCKETS],
    max: u64,
}

/// The lags in a bucket: how many there are, and their sum in nanoseconds.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Bucket {
    count: u64,
    sum: u64,
}

impl LagHistogram {
    #[inline]
    pub(crate) fn record(&mut self, nanos: u64) {
        let bucket = &mut self.buckets[Self::bucket_of(nanos)];
        bucket.count += 1;
        // The sum overflows after 584 years of lag.
        bucket.sum = bucket.sum.wrapping_add(nanos);
        if nanos > self.max {
            self.max = nanos;
        }
    }

    #[inline]
    fn bucket_of(nanos: u64) -> usize {
        let halves = 2 * (nanos / FIRST) + 1;
        (halves.ilog2() as usize).min(BUCKETS - 1)
    }

    pub(crate) fn add(&mut self, other: &LagHistogram) {
        for (bucket, more) in self.buckets.iter_mut().zip(&other.buckets) {
            bucket.count += more.count;
            bucket.sum = bucket.sum.saturating_add(more.sum);
        }
        self.max = self.max.max(other.max);
    }

    /// Returns the number of timers that fired.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.count).sum()
    }

    /// Returns the sum of all lags, exact to the nanosecond.
    ///
    /// Divide it by [`count`](Self::count) for the mean.
    #[must_use]
    pub fn total(&self) -> Duration {
        let sums = self.buckets.iter().map(|bucket| bucket.sum);
        sums.map(Duration::from_nanos).sum()
    }

    /// Returns the largest lag.
    ///
    /// In counts since the driver started, this is exact to the nanosecond. In the counts of an
    /// interval, it may be an upper bound: the end of the highest bucket in which a timer fired.
    #[must_use]
    pub fn max(&self) -> Duration {
        Duration::from_nanos(self.max)
    }

    /// Returns all buckets, narrowest first, as a range of lags and the number of timers in it.
    pub fn buckets(&self) -> impl Iterator<Item = (Range<Duration>, u64)> {
        let buckets = self.buckets.iter().enumerate();
        buckets.map(|(index, bucket)| (Self::range(index), bucket.count))
    }

    /// Returns a lag that this fraction of the timers did not exceed.
    ///
    /// This is the end of the bucket into which the quantile falls, or the largest lag if that is
    /// less. If no timer has fired, it is zero.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let lag = wheel::metrics().snapshot().lag;
    /// assert_eq!(lag.quantile(0.99), wheel::Duration::ZERO);
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if `quantile` is not between 0 and 1.
    #[must_use]
    #[track_caller]
    pub fn quantile(&self, quantile: f64) -> Duration {
        assert!(
            (0.0..=1.0).contains(&quantile),
            "quantile must be between 0 and 1, got {quantile}"
        );
        let wanted = (quantile * self.count() as f64).ceil() as u64;
        let mut seen = 0;
        for (range, count) in self.buckets() {
            seen += count;
            if count > 0 && seen >= wanted {
                return range.end.min(self.max());
            }
        }
        self.max()
    }

    fn range(index: usize) -> Range<Duration> {
        let edge = |index: usize| Duration::from_nanos(FIRST << index);
        let start = match index {
            0 => Duration::ZERO,
            _ => edge(index - 1),
        };
        let is_last = index == BUCKETS - 1;
        start..if is_last { Duration::MAX } else { edge(index) }
    }

    /// Returns the lags of the timers that fired between `before` and this histogram.
    pub(crate) fn since(&self, before: &LagHistogram) -> LagHistogram {
        let mut between = self.clone();
        for (bucket, before) in between.buckets.iter_mut().zip(&before.buckets) {
            bucket.count = bucket.count.saturating_sub(before.count);
            bucket.sum = bucket.sum.saturating_sub(before.sum);
        }
        // A new maximum is exact. Otherwise only the maximum's bucket is known.
        if self.max == before.max {
            let highest = between.buckets.iter().rposition(|bucket| bucket.count > 0);
            let end = highest.map_or(Duration::ZERO, |index| Self::range(index).end);
            let end = u64::try_from(end.as_nanos()).unwrap_or(u64::MAX);
            between.max = between.max.min(end);
        }
        between
    }

    /// Returns the mean lag in seconds and the number of timers of each bucket that is not empty.
    /// The sum of the products is the exact total.
    #[cfg(feature = "metrics")]
    pub(crate) fn means(&self) -> impl Iterator<Item = (f64, usize)> {
        let used = self.buckets.iter().filter(|bucket| bucket.count > 0);
        used.map(|bucket| {
            let mean = bucket.sum as f64 / bucket.count as f64;
            let timers = usize::try_from(bucket.count);
            (mean / 1e9, timers.unwrap_or(usize::MAX))
        })
    }

    /// Returns the ends of all buckets in seconds, except the last bucket, which has no end.
    #[cfg(feature = "metrics")]
    pub(crate) fn ends() -> impl Iterator<Item = f64> {
        (0..BUCKETS - 1).map(|index| Self::range(index).end.as_secs_f64())
    }
}

impl fmt::Debug for LagHistogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LagHistogram")
            .field("count", &self.count())
            .field("max", &self.max())
            .field("total", &self.total())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
