//! [`metrics()`] and [`Metrics`]: a handle to the counts of a driver.

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::driver::{Driver, registry};
use crate::metrics::MetricsSnapshot;
use crate::platform::{Ordering, runtime};

/// Returns a handle to the counts of the current runtime's timers: how many were armed, how many
/// fired or were cancelled, and how late those that fired were.
///
/// This starts nothing. Until the driver starts, all counts are zero.
/// [How to read the counts](crate::docs::metrics).
///
/// # Panics
///
/// Panics outside a Tokio runtime.
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
/// # Differences from Tokio
///
/// Tokio's `RuntimeMetrics` do not count timers.
#[track_caller]
pub fn metrics() -> Metrics {
    let runtime = Some(runtime::Handle::current().id());
    let driver = OnceLock::new();
    let metrics = Metrics { runtime, driver };
    metrics.driver();
    metrics
}

/// A handle to the counts of a driver's timers.
///
/// [`wheel::metrics()`](crate::metrics()) returns the handle of the free functions' driver, and
/// [`Handle::metrics`] that of any driver. The handle can be used on any thread, and keeps no
/// runtime alive. After the driver has shut down, the handle shows the last counts, in which timers
/// that were still pending count as cancelled. (A handle that was made before the runtime's first
/// timer, and is not read between that and the runtime's end, shows zeros.)
///
/// Each call of [`snapshot`](Self::snapshot) reads the counts again. It locks each shard in turn, and
/// applies the cancels that are queued there.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let metrics = wheel::metrics();
/// wheel::sleep(wheel::Duration::from_millis(50)).await;
/// let now = metrics.snapshot();
/// assert_eq!((now.armed, now.fired, now.pending), (1, 1, 0));
/// # }
/// ```
///
/// [`Handle::metrics`]: crate::Handle::metrics
#[derive(Clone)]
pub struct Metrics {
    /// The runtime whose default driver this is about.
    runtime: Option<runtime::Id>,
    /// The driver, once it was seen.
    driver: OnceLock<Arc<Driver>>,
}

impl Metrics {
    pub(crate) fn new(driver: Arc<Driver>) -> Self {
        Metrics {
            runtime: None,
            driver: OnceLock::from(driver),
        }
    }

    /// Returns the driver, or `None` if the runtime has had no timer yet, or had shut down by the first
    /// reading after that.
    fn driver(&self) -> Option<&Arc<Driver>> {
        if let (None, Some(runtime)) = (self.driver.get(), self.runtime) {
            if let Some(driver) = registry::find(runtime) {
                let _ = self.driver.set(driver);
            }
        }
        self.driver.get()
    }

    /// Returns the counts of all shards since the driver started.
    ///
    /// The shards are read one after the other, each under its lock, so
    /// `armed == fired + cancelled + pending` holds in every snapshot.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let now = wheel::metrics().snapshot();
    /// assert_eq!(now.armed, now.fired + now.cancelled + now.pending as u64);
    /// # }
    /// ```
    #[must_use]
    pub fn snapshot(&self) -> MetricsSnapshot {
        let mut sum = MetricsSnapshot::default();
        if let Some(driver) = self.driver() {
            for shard in driver.shards() {
                sum.add(&shard.snapshot());
            }
            sum.passes = driver.passes.load(Ordering::Relaxed);
            sum.idle_passes = driver.idle_passes.load(Ordering::Relaxed);
        }
        sum
    }

    /// Returns the counts of one shard since the driver started.
    ///
    /// A timer is armed in the shard of the worker that polls it first (in a custom driver,
    /// that creates it), or in another shard if that shard is locked. Threads that are not workers
    /// are spread over the shards.
    ///
    /// # Panics
    ///
    /// Panics if `index` is not less than [`num_shards`](Self::num_shards).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// wheel::sleep(wheel::Duration::ZERO).await;
    /// let metrics = wheel::metrics();
    /// let shards = (0..metrics.num_shards()).map(|index| metrics.shard(index));
    /// let busiest = shards.max_by_key(|shard| shard.armed);
    /// # assert!(busiest.is_some());
    /// # }
    /// ```
    #[must_use]
    #[track_caller]
    pub fn shard(&self, index: usize) -> MetricsSnapshot {
        let homes = self.driver().map_or(&[][..], |driver| &driver.homes);
        let count = homes.len();
        assert!(
            index < count,
            "shard index {index} is out of range: there are {count} shards"
        );
        homes[index].shard.snapshot()
    }

    /// Returns the number of shards, each with its own lock.
    ///
    /// This is the number of workers, unless [`Builder::shards`](crate::Builder::shards) has set
    /// another one, and zero until the driver starts.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// wheel::sleep(wheel::Duration::ZERO).await;
    /// assert_eq!(wheel::metrics().num_shards(), 1);
    /// # }
    /// ```
    #[must_use]
    pub fn num_shards(&self) -> usize {
        self.driver().map_or(0, |driver| driver.homes.len())
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}
