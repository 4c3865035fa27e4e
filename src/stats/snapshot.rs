//! [`Snapshot`]: what has been counted at one time.

use super::lag_histogram::LagHistogram;

/// What has been counted, of one shard or of all of a driver, at one time.
///
/// All counts are since the driver was started, which is with the runtime's
/// first timer, and never decrease. `registered == fired + cancelled + pending`
/// at any time: each shard is read at once, under its lock.
///
/// A timer counts from when it is *registered*: when it is first polled or reset,
/// and once more when it is reset after it has fired. One that nobody polls, or
/// that is found due when it would be registered, counts nowhere.
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// Timers that were put into a wheel, or took a cancelled one's place there.
    pub registered: u64,
    /// Timers that the driver took out because they were due, and those that
    /// were reset to a time that had passed. One that is dropped in the very
    /// moment in which the driver is firing what is due may count here, too.
    pub fired: u64,
    /// Timers that were dropped before they were due, and those that the end of
    /// their runtime found pending.
    pub cancelled: u64,
    /// Timers that are registered now.
    pub pending: usize,
    /// Pending timers that were given another deadline, whether earlier, later
    /// or past. That registers nothing anew.
    pub reset: u64,
    /// How often a timer was moved to a lower level as its deadline came nearer:
    /// the wheels' own work. At most seven times per timer, and once more when a timer
    /// that was reset comes to where it was before; for one that is
    /// cancelled early not at all.
    pub cascaded: u64,
    /// How late timers fired.
    pub lag: LagHistogram,
    /// How often the driver has visited its wheels: its alarm rang, or its task was
    /// polled, because something was left to do or was due. Without timers it does not
    /// change: nothing is armed then.
    ///
    /// Of the whole driver; 0 in the snapshot of one shard.
    pub driver_wakeups: u64,
    /// How often it found nothing there: mostly, the timer had been cancelled. The task's
    /// first poll, when the driver starts, is one of them.
    ///
    /// Of the whole driver; 0 in the snapshot of one shard.
    pub driver_noops: u64,
    /// Timers that there is memory for. A page of 2048 is freed when it has
    /// emptied and another one has, too.
    pub slab_capacity: usize,
}

impl Snapshot {
    pub(crate) fn add(&mut self, shard: &Snapshot) {
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

    /// What it is once the runtime has ended: all that was pending is cancelled,
    /// and the memory freed.
    pub(crate) fn swept(mut self) -> Snapshot {
        self.cancelled += self.pending as u64;
        self.pending = 0;
        self.slab_capacity = 0;
        self
    }
}
