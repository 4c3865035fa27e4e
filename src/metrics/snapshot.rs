//! [`MetricsSnapshot`]: the counts of a driver since its start, or between two points in time.

use std::fmt;

use super::LagHistogram;

/// The counts of a driver's or a shard's timers.
///
/// * A snapshot from [`Metrics::snapshot`](crate::Metrics::snapshot) counts from when the driver
///   started, which is usually at the runtime's first timer. From one snapshot to the next, no
///   count except `pending` decreases, and `armed == fired + cancelled + pending` holds in
///   every snapshot.
/// * A snapshot from [`since`](Self::since) counts what happened between two snapshots. `pending` is
///   the number at the end of the interval.
///
/// A timer is counted when it is *armed*, at its first poll or reset, and again if it is reset after
/// it has fired. Timers that are never polled or reset, and timers that complete at their
/// first poll, are not counted.
///
/// [How to read the counts](crate::docs::metrics).
///
/// # Examples
///
/// ```
/// use wheel::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// wheel::sleep(Duration::from_millis(50)).await;
/// let quick = async { tokio::task::yield_now().await };
/// wheel::timeout(Duration::from_secs(60), quick).await.unwrap();
///
/// let now = wheel::metrics().snapshot();
/// assert_eq!((now.armed, now.fired, now.cancelled, now.pending), (2, 1, 1, 0));
/// # }
/// ```
#[derive(Clone, Default)]
// Only for tests, because a comparison includes the private counts.
#[cfg_attr(test, derive(PartialEq, Eq))]
#[non_exhaustive]
pub struct MetricsSnapshot {
    /// The number of timers that were armed.
    pub armed: u64,
    /// The number of timers that fired, including those that were reset to a time in the past.
    ///
    /// A timer that is dropped while it fires may count here, too.
    pub fired: u64,
    /// The number of timers that were dropped before they fired, or that were pending when their
    /// driver shut down.
    pub cancelled: u64,
    /// The number of timers that are armed now.
    pub pending: usize,
    /// The number of resets of pending timers. A reset timer is not counted in `armed` again.
    pub reset: u64,
    /// The number of times that a timer moved to a lower level. Private, because the wheels may change.
    pub(crate) cascaded: u64,
    /// How late timers fired.
    pub lag: LagHistogram,
    /// The number of expiry passes: how often the driver woke up to fire what was due. Each pass uses
    /// CPU time.
    ///
    /// Counted for the whole driver; zero in the snapshot of a shard.
    pub passes: u64,
    /// The number of passes in which no timer was due, in most cases because the timer had been
    /// cancelled. The driver's start counts here, too.
    ///
    /// Counted for the whole driver; zero in the snapshot of a shard.
    pub idle_passes: u64,
    /// The number of timers that there is memory for. Private, because their storage may change.
    pub(crate) slab_capacity: usize,
}

impl MetricsSnapshot {
    /// Returns what was counted between the snapshot `before` and this one.
    ///
    /// Both snapshots must be of the same driver, or of the same shard. A count that would be
    /// negative is zero. `pending` is the same as in this snapshot. [`LagHistogram::max`] may be an
    /// upper bound: the end of the highest bucket in which a timer fired.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let metrics = wheel::metrics();
    /// let before = metrics.snapshot();
    /// wheel::sleep(wheel::Duration::from_millis(50)).await;
    /// let between = metrics.snapshot().since(&before);
    /// assert_eq!((between.armed, between.fired, between.lag.count()), (1, 1, 1));
    /// # }
    /// ```
    #[must_use]
    pub fn since(&self, before: &MetricsSnapshot) -> MetricsSnapshot {
        MetricsSnapshot {
            armed: self.armed.saturating_sub(before.armed),
            fired: self.fired.saturating_sub(before.fired),
            cancelled: self.cancelled.saturating_sub(before.cancelled),
            pending: self.pending,
            reset: self.reset.saturating_sub(before.reset),
            cascaded: self.cascaded.saturating_sub(before.cascaded),
            lag: self.lag.since(&before.lag),
            passes: self.passes.saturating_sub(before.passes),
            idle_passes: self.idle_passes.saturating_sub(before.idle_passes),
            slab_capacity: self.slab_capacity,
        }
    }

    /// Adds the counts of a shard, which has no passes.
    pub(crate) fn add(&mut self, shard: &MetricsSnapshot) {
        self.armed += shard.armed;
        self.fired += shard.fired;
        self.cancelled += shard.cancelled;
        self.pending += shard.pending;
        self.reset += shard.reset;
        self.cascaded += shard.cascaded;
        self.lag.add(&shard.lag);
        self.slab_capacity += shard.slab_capacity;
    }
}

/// Prints the public fields.
impl fmt::Debug for MetricsSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MetricsSnapshot")
            .field("armed", &self.armed)
            .field("fired", &self.fired)
            .field("cancelled", &self.cancelled)
            .field("pending", &self.pending)
            .field("reset", &self.reset)
            .field("lag", &self.lag)
            .field("passes", &self.passes)
            .field("idle_passes", &self.idle_passes)
            .finish_non_exhaustive()
    }
}
