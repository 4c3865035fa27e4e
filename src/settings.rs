//! [`Settings`]: what a [`Builder`](crate::Builder) has set for a driver. They never change.

use std::num::NonZeroU64;

use crate::platform::runtime::{Handle, RuntimeFlavor};
pub(crate) use crate::platform::{BATCH, MANY, PASS};

/// The settings of a driver. A builder has checked that each is in its range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Settings {
    pub(crate) shards: usize,
    /// Deadlines are rounded up to a multiple of this many nanoseconds, if it is set.
    pub(crate) tick: Option<NonZeroU64>,
    /// The number of pending timers that memory is preallocated for, over all shards.
    pub(crate) capacity: usize,
    /// `true` if the driver has high resolution, and so a timerfd.
    pub(crate) is_precise: bool,
    /// The shortest time between two wake-ups by the timerfd, in nanoseconds.
    pub(crate) spacing: u64,
    /// `true` on a current-thread runtime, whose clock may be paused.
    pub(crate) current_thread: bool,
}

impl Settings {
    /// Returns the default settings for a runtime: one shard per worker, and no rounding.
    pub(crate) fn for_runtime(handle: &Handle) -> Self {
        Settings {
            shards: handle.metrics().num_workers(),
            current_thread: handle.runtime_flavor() == RuntimeFlavor::CurrentThread,
            ..Settings::default()
        }
    }
}
