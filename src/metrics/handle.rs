//! [`metrics()`] and [`WheelMetrics`]: a handle to the counts of a driver.

use std::fmt;
use std::sync::Arc;

use tokio::runtime::Handle;

use super::MetricsIntervals;
use crate::counts::{FinalCounts, MetricsSnapshot};
use crate::driver::{DriverRef, registry};

/// Counts of the current runtime's timers: how many were armed, fired and cancelled, and how
/// late they fired.
///
/// Starts the driver if there is none yet, which spawns a task. The same as
/// `Wheel::current().metrics()`. [How to read the counts](crate::docs::metrics).
///
/// # Panics
///
/// As [`sleep`](crate::sleep): outside a Tokio runtime, and in a runtime built without
/// `enable_time`.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(wheel::metrics().snapshot().pending, 0);
/// # }
/// ```
///
/// # Differences from tokio
///
/// tokio's `RuntimeMetrics` have no counts of timers.
#[track_caller]
pub fn metrics() -> WheelMetrics {
    WheelMetrics::new(registry::driver_of(&Handle::current()))
}

/// Handle to the counts of a driver.
///
/// From [`wheel::metrics()`](crate::metrics()), or from [`Wheel::metrics`] for a driver of its
/// own. The handle can be used on any thread, costs two words and a reference count to clone,
/// and keeps no runtime alive. After the end of the runtime it shows the last counts, with
/// pending timers counted as cancelled.
///
/// Each call of [`snapshot`](Self::snapshot) reads anew, under the lock of each shard in turn,
/// for some tens of nanoseconds each.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let metrics = wheel::metrics();
/// wheel::sleep(wheel::Duration::from_millis(1)).await;
/// let now = metrics.snapshot();
/// assert_eq!((now.registered, now.fired, now.pending), (1, 1, 0));
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

    /// The counts since the driver started, of all shards together.
    ///
    /// Shards are read in turn, each under its lock, so
    /// `registered == fired + cancelled + pending` holds in every snapshot.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let now = wheel::metrics().snapshot();
    /// assert_eq!(now.registered, now.fired + now.cancelled + now.pending as u64);
    /// # }
    /// ```
    #[must_use]
    pub fn snapshot(&self) -> MetricsSnapshot {
        let mut sum = MetricsSnapshot::default();
        for index in 0..self.num_shards() {
            sum.add(&self.shard(index));
        }
        if let Some(counts) = &self.last {
            sum.driver_wakeups = counts.passes();
            sum.driver_noops = counts.idle_passes();
        }
        sum
    }

    /// The counts of successive intervals: each call of `next` returns the counts since the
    /// call before, and the first call those since `intervals`.
    ///
    /// ```
    /// use wheel::Duration;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let intervals = wheel::metrics().intervals();
    /// for passed in intervals.take(2) {
    ///     println!("{} fired, 99 % at most {:?} late", passed.fired, passed.lag.quantile(0.99));
    ///     wheel::sleep(Duration::from_millis(10)).await;
    /// }
    /// # }
    /// ```
    pub fn intervals(&self) -> MetricsIntervals {
        MetricsIntervals::new(self.clone())
    }

    /// The counts of a shard since the driver started.
    ///
    /// A timer is registered in the shard of the worker on which it is first polled, or in
    /// another shard while that shard's lock is taken. Threads that are no workers are spread
    /// over the shards.
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
    pub fn shard(&self, index: usize) -> MetricsSnapshot {
        let DriverRef { driver, generation } = self.driver;
        let shards = driver.shards();
        let count = shards.len();
        assert!(
            index < count,
            "there are {count} shards, and none is {index}"
        );
        let now = shards[index].snapshot(generation);
        now.or_else(|| Some(self.last.as_ref()?.of_shard(index)))
            .unwrap_or_default()
    }

    /// Number of shards, each with a lock of its own: as many as workers, unless set by
    /// [`Builder::shards`](crate::Builder::shards).
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
}

impl fmt::Debug for WheelMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WheelMetrics")
            .field("shards", &self.num_shards())
            .field("snapshot", &self.snapshot())
            .finish_non_exhaustive()
    }
}
