//! [`WheelMetrics`]: a handle to what a driver counts.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use super::{LagHistogram, Snapshot};
use crate::driver::DriverRef;
use crate::driver::stats::FinalCounts;

/// A handle to what is counted of a driver's timers; each call reads anew.
///
/// From [`wheel::metrics()`](crate::metrics()), or [`Wheel::metrics`] for a
/// driver of one's own. It can be used from any thread, costs two words and a
/// count to clone, and keeps no runtime alive. When the runtime has ended it
/// shows the last figures, with what was pending counted as cancelled.
///
/// Every call takes the lock of each shard in turn, for some tens of
/// nanoseconds. Several calls are several looks: use
/// [`snapshot`](Self::snapshot) for figures that belong together.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let metrics = wheel::metrics();
/// wheel::sleep(wheel::Duration::from_millis(1)).await;
/// assert_eq!(metrics.timers_registered_count(), 1);
/// assert_eq!(metrics.timers_fired_count(), 1);
/// assert_eq!(metrics.num_active_timers(), 0);
/// # }
/// ```
///
/// [`Wheel::metrics`]: crate::Wheel::metrics
#[derive(Clone)]
pub struct WheelMetrics {
    driver: DriverRef,
    /// `None` when the driver had ended long before.
    last: Option<Arc<FinalCounts>>,
}

impl WheelMetrics {
    pub(crate) fn new(driver: DriverRef) -> Self {
        let last = driver.driver.last(driver.generation);
        WheelMetrics { driver, last }
    }

    /// All that is counted, of all shards together.
    ///
    /// Each shard is read at once, one after the other, so
    /// `registered == fired + cancelled + pending` holds whatever goes on.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let now = wheel::metrics().snapshot();
    /// assert_eq!(now.registered, now.fired + now.cancelled + now.pending as u64);
    /// # }
    /// ```
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let mut sum = Snapshot::default();
        for index in 0..self.num_shards() {
            sum.add(&self.shard(index));
        }
        sum
    }

    /// All that is counted of one shard.
    ///
    /// A timer is registered in the shard of the worker that it was made on or, if
    /// that is busy just then, in another; whoever cancels it does so there. Threads that
    /// are no workers are spread over the shards.
    ///
    /// # Panics
    ///
    /// When there is no such shard.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let metrics = wheel::metrics();
    /// let shards = (0..metrics.num_shards()).map(|index| metrics.shard(index));
    /// let busiest = shards.max_by_key(|shard| shard.registered);
    /// # assert!(busiest.is_some());
    /// # }
    /// ```
    #[must_use]
    #[track_caller]
    pub fn shard(&self, index: usize) -> Snapshot {
        let DriverRef { driver, generation } = self.driver;
        let shards = driver.shards();
        let count = shards.len();
        assert!(
            index < count,
            "there are {count} shards, and none is {index}"
        );
        let now = shards[index].shard.snapshot(generation);
        now.or_else(|| Some(self.last.as_ref()?.of_shard(index)))
            .unwrap_or_default()
    }

    /// How many wheels there are, each with a lock of its own: one per worker,
    /// unless a [`Builder`](crate::Builder) said otherwise.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// assert_eq!(wheel::metrics().num_shards(), 1);
    /// # }
    /// ```
    #[must_use]
    pub fn num_shards(&self) -> usize {
        self.driver.driver.shards().len()
    }

    /// Timers that are registered now; [`Snapshot::pending`].
    #[must_use]
    pub fn num_active_timers(&self) -> usize {
        self.snapshot().pending
    }

    /// Timers ever registered; [`Snapshot::registered`].
    #[must_use]
    pub fn timers_registered_count(&self) -> u64 {
        self.snapshot().registered
    }

    /// Timers that fired; [`Snapshot::fired`].
    #[must_use]
    pub fn timers_fired_count(&self) -> u64 {
        self.snapshot().fired
    }

    /// Timers that were dropped while they were pending;
    /// [`Snapshot::cancelled`].
    #[must_use]
    pub fn timers_cancelled_count(&self) -> u64 {
        self.snapshot().cancelled
    }

    /// Resets of timers that were pending; [`Snapshot::reset`].
    #[must_use]
    pub fn timers_reset_count(&self) -> u64 {
        self.snapshot().reset
    }

    /// Moves of timers to a lower level; [`Snapshot::cascaded`].
    #[must_use]
    pub fn timers_cascaded_count(&self) -> u64 {
        self.snapshot().cascaded
    }

    /// How often the driver has visited its wheels: its alarm rang, or its task was
    /// polled, because something was left to do or was due.
    ///
    /// Without timers it does not change: nothing is armed then.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let metrics = wheel::metrics();
    /// wheel::sleep(wheel::Duration::from_millis(1)).await;
    /// assert!(metrics.driver_wakeup_count() >= 1);
    /// assert!(metrics.driver_wakeup_count() > metrics.driver_noop_count());
    /// # }
    /// ```
    #[must_use]
    pub fn driver_wakeup_count(&self) -> u64 {
        self.last.as_ref().map_or(0, |counts| counts.turns())
    }

    /// How often it found nothing: mostly, the timer had been cancelled.
    ///
    /// The task's first poll, when the driver starts, is one of them.
    #[must_use]
    pub fn driver_noop_count(&self) -> u64 {
        self.last.as_ref().map_or(0, |counts| counts.idle_turns())
    }

    /// How late the latest timer fired, since the driver started.
    #[must_use]
    pub fn max_lag(&self) -> Duration {
        self.snapshot().lag.max()
    }

    /// How late all timers fired, added up; divided by
    /// [`timers_fired_count`](Self::timers_fired_count) it is the mean.
    #[must_use]
    pub fn total_lag(&self) -> Duration {
        self.snapshot().lag.total()
    }

    /// Whether lags are counted: always. For code that was written for tokio's
    /// histograms, which have to be switched on.
    #[must_use]
    pub fn lag_histogram_enabled(&self) -> bool {
        true
    }

    /// How many buckets the histogram of lags has.
    #[must_use]
    pub fn lag_histogram_num_buckets(&self) -> usize {
        LagHistogram::NUM_BUCKETS
    }

    /// The lags that belong to a bucket; see [`LagHistogram`].
    ///
    /// # Panics
    ///
    /// When there is no such bucket.
    ///
    /// ```
    /// use wheel::Duration;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let range = wheel::metrics().lag_histogram_bucket_range(0);
    /// assert_eq!(range, Duration::ZERO..Duration::from_nanos(62_500));
    /// # }
    /// ```
    #[must_use]
    #[track_caller]
    pub fn lag_histogram_bucket_range(&self, bucket: usize) -> Range<Duration> {
        assert_bucket(bucket);
        LagHistogram::range(bucket)
    }

    /// How many timers have been as late as belongs to this bucket.
    ///
    /// # Panics
    ///
    /// When there is no such bucket.
    #[must_use]
    #[track_caller]
    pub fn lag_histogram_bucket_count(&self, bucket: usize) -> u64 {
        assert_bucket(bucket);
        self.snapshot().lag.in_bucket(bucket)
    }

    /// Entries in use in the slabs: as many as there are pending timers.
    #[must_use]
    pub fn slab_len(&self) -> usize {
        self.snapshot().pending
    }

    /// Entries that the slabs have memory for; [`Snapshot::slab_capacity`].
    #[must_use]
    pub fn slab_capacity(&self) -> usize {
        self.snapshot().slab_capacity
    }
}

#[track_caller]
fn assert_bucket(bucket: usize) {
    let count = LagHistogram::NUM_BUCKETS;
    assert!(
        bucket < count,
        "there are {count} buckets, and none is {bucket}"
    );
}

impl fmt::Debug for WheelMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WheelMetrics")
            .field("shards", &self.num_shards())
            .field("snapshot", &self.snapshot())
            .finish_non_exhaustive()
    }
}
