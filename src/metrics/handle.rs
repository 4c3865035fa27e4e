//! [`metrics()`] and [`WheelMetrics`]: a handle to the counts of a driver.

use std::fmt;
use std::sync::Arc;

use tokio::runtime::Handle;

use super::MetricsIntervals;
use crate::counts::{FinalCounts, MetricsSnapshot};
use crate::driver::{DriverRef, registry};

/// Returns a handle to the counts of the current runtime's timers: how many were armed, how many fired or
/// were cancelled, and how late those that fired were.
///
/// If no timer has been made yet, this starts the driver, which spawns a task. It is the same as
/// `Wheel::current().metrics()`. [How to read the counts](crate::docs::metrics).
///
/// # Panics
///
/// Panics under the same conditions as [`sleep`](crate::sleep()): outside a Tokio runtime, and in a runtime
/// built without `enable_time`.
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
/// tokio's `RuntimeMetrics` do not count timers.
#[track_caller]
pub fn metrics() -> WheelMetrics {
    WheelMetrics::new(registry::driver_of(&Handle::current()))
}

/// A handle to the counts of a driver's timers.
///
/// [`wheel::metrics()`](crate::metrics()) returns the handle of the free functions' driver, and
/// [`Wheel::metrics`] that of any driver. The handle can be used on any thread, and keeps no runtime
/// alive. After the driver has shut down, the handle shows the last counts, in which timers that were
/// still pending count as cancelled.
///
/// Each call of [`snapshot`](Self::snapshot) reads the counts again. It locks each shard in turn, for some
/// tens of nanoseconds each.
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
    /// `None` if the driver had shut down long before the handle was taken.
    last: Option<Arc<FinalCounts>>,
}

impl WheelMetrics {
    pub(crate) fn new(driver: DriverRef) -> Self {
        let last = driver.driver.last(driver.generation);
        WheelMetrics { driver, last }
    }

    /// Returns the counts of all shards since the driver started.
    ///
    /// The shards are read one after the other, each under its lock, so
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

    /// Returns an iterator over the counts of successive intervals.
    ///
    /// Each call of `next` returns what was counted since the previous call. The first call returns what was
    /// counted since `intervals` was called.
    ///
    /// ```
    /// use wheel::Duration;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let intervals = wheel::metrics().intervals();
    /// for (fired_before, passed) in (0..2).zip(intervals) {
    ///     println!("{} fired, 99 % at most {:?} late", passed.fired, passed.lag.quantile(0.99));
    ///     assert_eq!(passed.fired, fired_before);
    ///     wheel::sleep(Duration::from_millis(10)).await;
    /// }
    /// # }
    /// ```
    pub fn intervals(&self) -> MetricsIntervals {
        MetricsIntervals::new(self.clone())
    }

    /// Returns the counts of one shard since the driver started.
    ///
    /// A timer is registered in the shard of the worker that polls it first, or in another shard if that
    /// shard is locked. Threads that are not workers are spread over the shards.
    ///
    /// # Panics
    ///
    /// Panics if `index` is not less than [`num_shards`](Self::num_shards).
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
            "shard index {index} is out of range: there are {count} shards"
        );
        let now = shards[index].snapshot(generation);
        now.or_else(|| Some(self.last.as_ref()?.of_shard(index)))
            .unwrap_or_default()
    }

    /// Returns the number of shards, each with its own lock.
    ///
    /// This is the number of workers, unless [`Builder::shards`](crate::Builder::shards) has set another one.
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
