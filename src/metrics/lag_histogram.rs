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
/// wheel::sleep(Duration::from_millis(1)).await;
///
/// let lag = wheel::metrics().snapshot().lag;
/// assert_eq!(lag.count(), 1);
/// assert!(lag.max() <= lag.quantile(1.0));
/// for (range, timers) in lag.buckets() {
///     println!("{range:?}: {timers}");
/// }
/// # }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct LagHistogram {
    buckets: [Bucket; BUCKETS],
    max: u64,
}

/// The lags in a bucket: how many there are, and their sum in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Bucket {
    count: u64,
    sum: u64,
}

impl LagHistogram {
    pub(crate) const fn new() -> Self {
        LagHistogram {
            buckets: [Bucket { count: 0, sum: 0 }; BUCKETS],
            max: 0,
        }
    }

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
            between.max = between.max.min(saturating_nanos(end));
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
            (
                mean / 1e9,
                usize::try_from(bucket.count).unwrap_or(usize::MAX),
            )
        })
    }

    /// Returns the ends of all buckets in seconds, except the last bucket, which has no end.
    #[cfg(feature = "metrics")]
    pub(crate) fn ends() -> impl Iterator<Item = f64> {
        (0..BUCKETS - 1).map(|index| Self::range(index).end.as_secs_f64())
    }
}

fn saturating_nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

impl Default for LagHistogram {
    fn default() -> Self {
        LagHistogram::new()
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
mod tests {
    use super::*;

    #[test]
    fn every_lag_is_in_the_bucket_whose_range_holds_it() {
        let edges = (0..64).flat_map(|bit| [FIRST << bit.min(40), 1 << bit]);
        for lag in edges.flat_map(|edge| [edge - 1, edge, edge + 1]) {
            let range = LagHistogram::range(LagHistogram::bucket_of(lag));
            assert!(
                range.contains(&Duration::from_nanos(lag)),
                "{lag} in {range:?}"
            );
        }
        assert_eq!(LagHistogram::bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn the_buckets_adjoin_and_a_millisecond_is_an_edge() {
        let ranges: Vec<_> = (0..BUCKETS).map(LagHistogram::range).collect();
        assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert_eq!(ranges[0].start, Duration::ZERO);
        assert_eq!(ranges[5].start, Duration::from_millis(1));
        assert_eq!(ranges[BUCKETS - 1].start, Duration::from_micros(65_536_000));
        assert_eq!(ranges[BUCKETS - 1].end, Duration::MAX);
    }

    #[test]
    fn totals_maxima_and_quantiles() {
        let mut lag = LagHistogram::new();
        assert_eq!((lag.count(), lag.quantile(1.0)), (0, Duration::ZERO));
        for nanos in [0, 100_000, 100_000, 3_000_000_000] {
            lag.record(nanos);
        }
        assert_eq!(lag.count(), 4);
        assert_eq!(lag.max(), Duration::from_secs(3));
        assert_eq!(lag.total(), Duration::new(3, 200_000));
        assert_eq!(lag.quantile(0.0), Duration::from_nanos(FIRST));
        assert_eq!(lag.quantile(0.75), Duration::from_micros(125));
        assert_eq!(lag.quantile(1.0), Duration::from_secs(3));
        let mut sum = lag.clone();
        sum.add(&lag);
        assert_eq!((sum.count(), sum.max()), (8, lag.max()));
    }

    #[test]
    fn the_maximum_of_an_interval_is_exact_if_new_and_else_a_buckets_end() {
        let mut lag = LagHistogram::new();
        lag.record(3_000_000_000);
        let before = lag.clone();
        assert_eq!(lag.since(&before), LagHistogram::new());
        lag.record(100_000);
        let between = lag.since(&before);
        assert_eq!(
            (between.count(), between.total()),
            (1, Duration::from_micros(100))
        );
        assert_eq!(between.max(), Duration::from_micros(125));
        assert_eq!(between.quantile(1.0), Duration::from_micros(125));
        lag.record(3_100_000_000);
        let between = lag.since(&before);
        assert_eq!(
            (between.count(), between.max()),
            (2, Duration::from_millis(3_100))
        );
        // The last bucket has no end.
        lag.record(u64::MAX);
        let before = lag.clone();
        lag.record(u64::MAX / 2);
        assert_eq!(lag.since(&before).max(), lag.max());
    }
}
