//! High resolution: what the descriptor is set to, and for which deadlines.
//!
//! tokio rings on its milliseconds, one or two late. Where a driver has a descriptor, that
//! rings for what is near, and tokio for the rest, early enough for the descriptor to be set
//! in time. So a service whose timers are seconds away makes no call of the kernel for them.
//!
//! # Ground rules
//!
//! * The two sources share one waker, and whoever takes a ring relies on neither any more.
//!   What is still set then rings for nothing, once.
//! * A descriptor whose time has come is left alone until its ring is taken. Setting it is a
//!   call of the kernel, and a busy runtime looks at I/O late and at what is overdue often.
//! * The descriptor never rings early: it is set to the time that is left, by the real clock,
//!   read last. Where a clock may be paused it is not used.
//! * **Rings are bounded.** After a ring there is none for as long as the spacing: what is
//!   due meanwhile fires together. A lone timer is not delayed by that, but for one that
//!   comes just after a ring in vain.
//! * The descriptor rings on the thread that drives I/O, inside tokio's turn, with none of
//!   tokio's locks held: as the alarm does on the thread that drives time.

use std::task::Waker;
use std::time::Duration;

use super::clock::Tick;
use super::sync::Descriptor;
use crate::build_error::BuildError;

/// What is no further ahead is for the descriptor: setting that costs less than a ring of
/// tokio's on the way would.
pub(super) const NEAR: Duration = if cfg!(all(test, loom)) {
    Duration::from_nanos(15)
} else {
    Duration::from_secs(1)
};
/// tokio rings up to two milliseconds late; the third is for a thread that is slow to wake.
pub(super) const LEAD: Duration = if cfg!(all(test, loom)) {
    Duration::from_nanos(5)
} else {
    Duration::from_millis(3)
};
/// For so long a ring that is on the way is waited for.
const AWAITED: Duration = Duration::from_millis(10);
/// From ring to ring, unless a builder says otherwise.
pub(crate) const DEFAULT_SPACING: Duration = Duration::from_micros(50);

/// A descriptor, and what it is set to.
pub(crate) struct HighResolution {
    descriptor: Descriptor,
    spacing: Duration,
    /// When a ring was last taken.
    rang: Tick,
    /// When it rings; [`Tick::NEVER`] if that is not known.
    set_to: Tick,
}

impl HighResolution {
    /// A descriptor of the current runtime.
    #[track_caller]
    pub(crate) fn open(spacing: Duration) -> Result<Self, BuildError> {
        let descriptor = Descriptor::open();
        descriptor.map(|descriptor| HighResolution::new(descriptor, spacing))
    }

    pub(super) fn new(descriptor: Descriptor, spacing: Duration) -> Self {
        HighResolution {
            descriptor,
            spacing,
            rang: Tick::ZERO,
            set_to: Tick::NEVER,
        }
    }

    /// There was a ring, which has been taken `now`.
    pub(super) fn rang(&mut self, now: Tick) {
        self.rang = now;
        self.forget();
    }

    /// A ring may have come, and have been taken for one of tokio's.
    pub(super) fn forget(&mut self) {
        self.set_to = Tick::NEVER;
    }

    /// Has the waker woken for what is due at `target`. `false` if that is for tokio: it is
    /// far, or the runtime has ended.
    pub(super) fn set(&mut self, target: Tick, now: Tick, waker: &Waker) -> bool {
        if target.saturating_since(now) > NEAR {
            return false;
        }
        // Its ring is on the way: whoever takes that sets it anew.
        if self.set_to <= now && now < self.set_to.saturating_add(AWAITED) {
            return true;
        }
        let at = target.max(self.rang.saturating_add(self.spacing));
        if at != self.set_to {
            let set = self.descriptor.set(at, waker);
            self.set_to = if set { at } else { Tick::NEVER };
        }
        self.set_to == at
    }
}
