//! What a [`Builder`](crate::Builder) sets, and what a driver reads of it.

use tokio::runtime::{Handle, RuntimeFlavor};

use super::clock::{Grid, MILLISECOND, Tick};
use super::sync::{AtomicU64, AtomicUsize, Ordering};

/// Entries that one hold of a shard's lock touches, unless a builder says otherwise.
pub(crate) const DEFAULT_HOLD: usize = 16;

/// The settings of a driver that is about to start. All are known to be sane.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) shards: usize,
    /// Nanoseconds that deadlines are rounded up to a multiple of; 1: not rounded.
    pub(crate) tick: u64,
    /// Timers to make room for at once, over all shards.
    pub(crate) capacity: usize,
    pub(crate) hold: usize,
    /// The runtime is a current-thread one: it fires everything that is due in one turn,
    /// and its clock may be paused.
    pub(crate) is_local: bool,
}

impl Settings {
    /// One shard per worker, nothing rounded.
    pub(crate) fn for_runtime(handle: &Handle) -> Self {
        let is_local = handle.runtime_flavor() == RuntimeFlavor::CurrentThread;
        let shards = if is_local {
            1
        } else {
            handle.metrics().num_workers()
        };
        Settings {
            shards,
            tick: 1,
            capacity: 0,
            hold: DEFAULT_HOLD,
            is_local,
        }
    }
}

/// Deadlines are not rounded to milliseconds: the clock is the real one.
const NOT_ALIGNED: u64 = u64::MAX;

/// The settings of a driver in service: written when it starts, then only read.
pub(crate) struct Active {
    tick: AtomicU64,
    origin: AtomicU64,
    /// Where tokio's milliseconds begin, as far into one of ours.
    phase: AtomicU64,
    hold: AtomicUsize,
}

impl Active {
    pub(super) fn new() -> Self {
        Active {
            tick: AtomicU64::new(1),
            origin: AtomicU64::new(0),
            phase: AtomicU64::new(NOT_ALIGNED),
            hold: AtomicUsize::new(DEFAULT_HOLD),
        }
    }

    pub(super) fn set(&self, settings: &Settings, now: Tick) {
        self.tick.store(settings.tick, Ordering::Relaxed);
        self.origin.store(now.0, Ordering::Relaxed);
        self.phase.store(NOT_ALIGNED, Ordering::Relaxed);
        self.hold.store(settings.hold, Ordering::Relaxed);
    }

    /// From now on deadlines are rounded up to whole milliseconds of tokio's, too, of which
    /// one begins `here`.
    pub(super) fn align(&self, here: Tick) {
        self.phase.store(here.0 % MILLISECOND, Ordering::Relaxed);
    }

    /// When a deadline fires: not before the configured tick, and where the clock may be
    /// paused, not before tokio's millisecond. Nothing is rounded by default.
    #[inline]
    pub(crate) fn round_up(&self, deadline: Tick) -> Tick {
        let is_fine = self.tick.load(Ordering::Relaxed) == 1;
        if is_fine && self.phase.load(Ordering::Relaxed) == NOT_ALIGNED {
            return deadline;
        }
        self.round_up_to_both(deadline)
    }

    #[cold]
    fn round_up_to_both(&self, deadline: Tick) -> Tick {
        let rounded = self.round_up_to_tick(deadline);
        match self.phase.load(Ordering::Relaxed) {
            NOT_ALIGNED => rounded,
            phase => Grid {
                origin: Tick(phase),
                width: MILLISECOND,
            }
            .round_up(rounded),
        }
    }

    /// To the configured tick only.
    pub(super) fn round_up_to_tick(&self, deadline: Tick) -> Tick {
        let grid = Grid {
            origin: Tick(self.origin.load(Ordering::Relaxed)),
            width: self.tick.load(Ordering::Relaxed),
        };
        match grid.width {
            1 => deadline,
            _ => grid.round_up(deadline),
        }
    }

    pub(super) fn hold(&self) -> usize {
        self.hold.load(Ordering::Relaxed)
    }
}
