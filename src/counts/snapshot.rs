//! [`MetricsSnapshot`]: the counts of a driver at a point in time, or of a stretch of time.

use std::fmt;

use super::LagHistogram;

/// Counts of a driver, or of a shard.
///
/// * From [`WheelMetrics::snapshot`](crate::WheelMetrics::snapshot): since the driver started,
///   which is with the runtime's first timer. No count decreases, and `registered == fired +
///   cancelled + pending` holds in every snapshot.
/// * From [`WheelMetrics::intervals`](crate::WheelMetrics::intervals) and [`since`](Self::since):
///   between two snapshots. `pending` is the number at the end of the interval.
///
/// A timer counts once it is *registered*: at its first poll or reset, and again at a reset
/// after it has fired. Timers that are never polled, and timers already due at their first
/// poll, count nowhere.
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
/// wheel::sleep(Duration::from_millis(1)).await;
/// let quick = async { tokio::task::yield_now().await };
/// wheel::timeout(Duration::from_secs(60), quick).await.unwrap();
///
/// let now = wheel::metrics().snapshot();
/// assert_eq!((now.registered, now.fired, now.cancelled, now.pending), (2, 1, 1, 0));
/// # }
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MetricsSnapshot {
    /// Timers that were registered.
    pub registered: u64,
    /// Timers that fired, resets to a time in the past included. A timer dropped in the course of
    /// firing may count here too.
    pub fired: u64,
    /// Timers dropped before they were due, and timers pending at the end of their runtime.
    pub cancelled: u64,
    /// Timers that are registered now.
    pub pending: usize,
    /// Resets of pending timers, to any time. A reset registers nothing anew.
    pub reset: u64,
    /// Moves of timers to a lower level. Private: how wheels work may change.
    pub(crate) cascaded: u64,
    /// How late timers fired.
    pub lag: LagHistogram,
    /// Wake-ups of the driver: each is CPU time spent on timers. Without timers there are none.
    ///
    /// Of the whole driver; 0 in the snapshot of a shard.
    pub driver_wakeups: u64,
    /// Wake-ups at which nothing was due: in most cases the timer had been cancelled. The
    /// driver's start counts here too.
    ///
    /// Of the whole driver; 0 in the snapshot of a shard.
    pub driver_noops: u64,
    /// Timers that there is memory for. Private: how they are stored may change.
    pub(crate) slab_capacity: usize,
}

impl MetricsSnapshot {
    /// The counts of the time between `before` and this snapshot.
    ///
    /// Both have to be from the same driver, or the same shard. Counts that would be negative
    /// are 0. `pending` is this snapshot's, and [`LagHistogram::max`] is an upper bound: the
    /// end of the highest bucket in which a timer fired.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let metrics = wheel::metrics();
    /// let before = metrics.snapshot();
    /// wheel::sleep(wheel::Duration::from_millis(1)).await;
    /// let between = metrics.snapshot().since(&before);
    /// assert_eq!((between.registered, between.fired, between.lag.count()), (1, 1, 1));
    /// # }
    /// ```
    #[must_use]
    pub fn since(&self, before: &MetricsSnapshot) -> MetricsSnapshot {
        MetricsSnapshot {
            registered: self.registered.saturating_sub(before.registered),
            fired: self.fired.saturating_sub(before.fired),
            cancelled: self.cancelled.saturating_sub(before.cancelled),
            pending: self.pending,
            reset: self.reset.saturating_sub(before.reset),
            cascaded: self.cascaded.saturating_sub(before.cascaded),
            lag: self.lag.since(&before.lag),
            driver_wakeups: self.driver_wakeups.saturating_sub(before.driver_wakeups),
            driver_noops: self.driver_noops.saturating_sub(before.driver_noops),
            slab_capacity: self.slab_capacity,
        }
    }

    pub(crate) fn add(&mut self, shard: &MetricsSnapshot) {
        self.registered += shard.registered;
        self.fired += shard.fired;
        self.cancelled += shard.cancelled;
        self.pending += shard.pending;
        self.reset += shard.reset;
        self.cascaded += shard.cascaded;
        self.lag.add(&shard.lag);
        self.driver_wakeups += shard.driver_wakeups;
        self.driver_noops += shard.driver_noops;
        self.slab_capacity += shard.slab_capacity;
    }

    /// The counts once the runtime has ended: all that was pending is cancelled, and the
    /// memory freed.
    pub(crate) fn swept(mut self) -> MetricsSnapshot {
        self.cancelled += self.pending as u64;
        self.pending = 0;
        self.slab_capacity = 0;
        self
    }
}

/// The public fields.
impl fmt::Debug for MetricsSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MetricsSnapshot")
            .field("registered", &self.registered)
            .field("fired", &self.fired)
            .field("cancelled", &self.cancelled)
            .field("pending", &self.pending)
            .field("reset", &self.reset)
            .field("lag", &self.lag)
            .field("driver_wakeups", &self.driver_wakeups)
            .field("driver_noops", &self.driver_noops)
            .finish_non_exhaustive()
    }
}
