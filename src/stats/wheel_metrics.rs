//! [`WheelMetrics`]: a handle to what a driver counts.

use std::fmt;
use std::sync::Arc;

use super::Snapshot;
use crate::driver::DriverRef;
use crate::stats::final_counts::FinalCounts;

/// A handle to what is counted of a driver's timers.
///
/// From [`wheel::metrics()`](crate::metrics()), or [`Wheel::metrics`] for a
/// driver of one's own. It can be used from any thread, costs two words and a
/// count to clone, and keeps no runtime alive. When the runtime has ended it
/// shows the last figures, with what was pending counted as cancelled.
///
/// [`snapshot`](Self::snapshot) reads everything, and each call reads anew. It takes the
/// lock of each shard in turn, for some tens of nanoseconds.
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
        if let Some(counts) = &self.last {
            sum.driver_wakeups = counts.turns();
            sum.driver_noops = counts.idle_turns();
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
}

impl fmt::Debug for WheelMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WheelMetrics")
            .field("shards", &self.num_shards())
            .field("snapshot", &self.snapshot())
            .finish_non_exhaustive()
    }
}
