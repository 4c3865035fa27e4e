//! The settings that a [`Builder`](crate::Builder) makes. A driver has the same settings all its
//! life.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Counts a driver's times in service: the runtimes that the driver has served, one after the other.
pub(crate) type Generation = u16;

/// Entries that a hold of a shard's lock fires or moves, or cancels that it carries out.
pub(crate) const HOLD: usize = if cfg!(all(test, loom)) { 1 } else { 16 };

/// The settings of a driver. All are valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Settings {
    pub(crate) shards: usize,
    /// Nanoseconds that deadlines are rounded up to a multiple of; 1: not rounded.
    pub(crate) tick: u64,
    /// Timers to make room for at once, over all shards.
    pub(crate) capacity: usize,
    /// The driver has a timerfd.
    pub(crate) is_precise: bool,
    /// On a current-thread runtime, a turn inside tokio's fires all due timers, and the clock may
    /// be paused.
    pub(crate) current_thread: bool,
}

impl Settings {
    /// A shard per worker, nothing rounded.
    pub(crate) fn for_runtime(handle: &Handle) -> Self {
        let current_thread = handle.runtime_flavor() == RuntimeFlavor::CurrentThread;
        Settings {
            shards: handle.metrics().num_workers(),
            tick: 1,
            capacity: 0,
            is_precise: false,
            current_thread,
        }
    }
}
