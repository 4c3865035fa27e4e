//! What a shard counts, and what is read of it.
//!
//! # Ground rules
//!
//! * Counting is free where timers are armed and cancelled. How many entries
//!   were ever put into a wheel, and how many were taken out, is written there
//!   *instead* of how many there are. What is written here is written under the
//!   shard's lock: when a timer fires, is reset, or takes a cancelled one's place.
//! * Nothing is counted twice, so that the sums cannot disagree: what was
//!   cancelled is what was taken out and did not fire, or was replaced.
//! * Letters are delivered, and spares cleared, before a shard is read, so that a
//!   timer whose drop has returned counts as cancelled, and is never counted
//!   otherwise later.

use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;

use super::lag::LagHistogram;
use super::shard::Wheel;

/// A shard's wheel, with what is counted beside it. In this order, so that a
/// reset counts in the line of memory that its lock has just been written in.
#[repr(C)]
pub(crate) struct Counted {
    /// Pending timers that were given another deadline.
    pub(super) resets: u64,
    /// Timers registered in the place of one that had been cancelled.
    pub(super) reused: u64,
    pub(super) wheel: Wheel,
    /// Of all that fired.
    pub(super) lag: LagHistogram,
}

impl Counted {
    /// An empty wheel at this time; nothing has been counted.
    pub(super) const fn starting_at(now: u64) -> Self {
        Counted {
            resets: 0,
            reused: 0,
            wheel: Wheel::starting_at(now),
            lag: LagHistogram::new(),
        }
    }

    /// A pending timer was reset to a time that has passed. Nobody is late.
    pub(super) fn fired_by_reset(&mut self) {
        self.resets += 1;
        self.lag.record(0);
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        let fired = self.lag.count();
        Snapshot {
            registered: self.wheel.inserted() + self.reused,
            fired,
            cancelled: self.wheel.removed() - fired + self.reused,
            pending: self.wheel.len(),
            reset: self.resets,
            cascaded: self.wheel.cascaded(),
            lag: self.lag.clone(),
            slab_capacity: self.wheel.capacity(),
        }
    }
}

impl Deref for Counted {
    type Target = Wheel;

    #[inline]
    fn deref(&self) -> &Wheel {
        &self.wheel
    }
}

impl DerefMut for Counted {
    #[inline]
    fn deref_mut(&mut self) -> &mut Wheel {
        &mut self.wheel
    }
}

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
        self.slab_capacity += shard.slab_capacity;
    }

    /// What it is once the runtime has ended: all that was pending is cancelled,
    /// and the memory freed.
    fn swept(mut self) -> Snapshot {
        self.cancelled += self.pending as u64;
        self.pending = 0;
        self.slab_capacity = 0;
        self
    }
}

/// How often a driver woke up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Turns {
    pub(crate) all: u64,
    /// Those in which nothing was due.
    pub(crate) idle: u64,
}

/// The last figures of a driver's time in service, for whoever asks later.
pub(crate) struct Last {
    generation: u32,
    shards: Box<[OnceLock<Snapshot>]>,
    pub(crate) turns: OnceLock<Turns>,
}

impl Last {
    pub(super) fn new(generation: u32, shards: usize) -> Self {
        Last {
            generation,
            shards: (0..shards).map(|_| OnceLock::new()).collect(),
            turns: OnceLock::new(),
        }
    }

    pub(super) fn is_of(&self, generation: u32) -> bool {
        self.generation == generation
    }

    /// Called under the shard's lock, which ends the generation: whoever finds
    /// that it has ended finds the figures.
    pub(super) fn set(&self, shard: usize, counted: &Counted) {
        // Set once: a shard is closed once in a generation.
        let _ = self.shards[shard].set(counted.snapshot().swept());
    }

    pub(crate) fn of_shard(&self, shard: usize) -> Snapshot {
        self.shards[shard].get().cloned().unwrap_or_default()
    }
}
