//! What a [`Builder`](crate::Builder) sets, and what a driver reads of it.

use tokio::runtime::{Handle, RuntimeFlavor};

use super::clock::{Grid, Tick};
use super::sync::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

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
    /// A current-thread runtime fires everything that is due in one turn.
    pub(crate) fires_all: bool,
}

impl Settings {
    /// One shard per worker, nothing rounded.
    pub(crate) fn for_runtime(handle: &Handle) -> Self {
        let fires_all = handle.runtime_flavor() == RuntimeFlavor::CurrentThread;
        let shards = if fires_all {
            1
        } else {
            handle.metrics().num_workers()
        };
        Settings {
            shards,
            tick: 1,
            capacity: 0,
            hold: DEFAULT_HOLD,
            fires_all,
        }
    }
}

/// The settings of a driver in service: written when it starts, then only read.
pub(crate) struct Active {
    tick: AtomicU64,
    origin: AtomicU64,
    hold: AtomicUsize,
    fires_all: AtomicBool,
}

impl Active {
    pub(super) fn new() -> Self {
        Active {
            tick: AtomicU64::new(1),
            origin: AtomicU64::new(0),
            hold: AtomicUsize::new(DEFAULT_HOLD),
            fires_all: AtomicBool::new(false),
        }
    }

    pub(super) fn set(&self, settings: &Settings, now: Tick) {
        self.tick.store(settings.tick, Ordering::Relaxed);
        self.origin.store(now.0, Ordering::Relaxed);
        self.hold.store(settings.hold, Ordering::Relaxed);
        self.fires_all.store(settings.fires_all, Ordering::Relaxed);
    }

    /// Rounds a deadline up to the configured tick. No division by default.
    #[inline]
    pub(crate) fn round_up(&self, deadline: Tick) -> Tick {
        match self.tick.load(Ordering::Relaxed) {
            1 => deadline,
            width => self.grid(width).round_up(deadline),
        }
    }

    #[cold]
    fn grid(&self, width: u64) -> Grid {
        Grid {
            origin: Tick(self.origin.load(Ordering::Relaxed)),
            width,
        }
    }

    pub(super) fn hold(&self) -> usize {
        self.hold.load(Ordering::Relaxed)
    }

    pub(super) fn fires_all(&self) -> bool {
        self.fires_all.load(Ordering::Relaxed)
    }
}
