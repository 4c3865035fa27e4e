//! The settings that a [`Builder`](crate::Builder) makes. A driver has the same settings all its
//! life.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Counts the runtimes that a driver has run for, one after the other.
pub(crate) type Generation = u16;

/// Maximum number of entries that one critical section of a shard fires, or of late cancels that it applies.
pub(crate) const BATCH: usize = if cfg!(all(test, loom)) { 1 } else { 16 };

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
    /// The runtime is a current-thread runtime, so its clock may be paused.
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
