//! High resolution: a Linux timerfd, whose expiry wakes tokio's I/O driver, and its setting.
//!
//! tokio rings on its milliseconds, one or two late. Where a driver has a timerfd, the timerfd
//! rings for near deadlines. For a deadline that is further away tokio rings once the deadline is
//! near, and the timerfd is set then. So a service whose timers are seconds away, and are cancelled,
//! makes no call of the kernel for them.
//!
//! # Ground rules
//!
//! * The two sources share one waker. After a wake-up neither source counts as set; a spurious
//!   wake-up may follow.
//! * A timerfd that has expired and is not yet delivered is not set again. Setting is a call of the
//!   kernel, and a busy runtime looks at I/O late and at overdue timers often.
//! * The timerfd never rings early: the setting is the time that is left, by the real clock, read
//!   last. Where a clock may be paused, the timerfd is not used.
//! * **Wake-ups are bounded.** From a wake-up to the next at least the spacing passes: timers that
//!   are due meanwhile fire together. Only a timer that is due within the spacing of a wake-up waits.
//! * The timerfd rings on the thread that drives I/O, inside tokio's turn, with none of tokio's
//!   locks held: as the alarm does on the thread that drives time.

use std::task::Waker;
use std::time::Duration;

use crate::build_error::BuildError;
use crate::clock::Tick;
use crate::sync::Descriptor;

/// Deadlines within this use the timerfd.
pub(super) const NEAR: Duration = if cfg!(all(test, loom)) {
    Duration::from_nanos(15)
} else {
    Duration::from_secs(1)
};
/// Time allowed for an expired timerfd's wake-up.
const AWAITED: Duration = Duration::from_millis(10);
/// From wake-up to wake-up, unless a builder says otherwise.
pub(crate) const DEFAULT_SPACING: Duration = Duration::from_micros(50);

/// A timerfd, and its setting.
pub(crate) struct HighResolution {
    descriptor: Descriptor,
    spacing: Duration,
    /// When a wake-up was last taken.
    last_ring: Tick,
    /// When the timerfd expires; [`Tick::NEVER`] if that is not known.
    set_to: Tick,
}

impl HighResolution {
    /// A timerfd of the current runtime.
    #[track_caller]
    pub(crate) fn open(spacing: Duration) -> Result<Self, BuildError> {
        let descriptor = Descriptor::open();
        descriptor.map(|descriptor| HighResolution::new(descriptor, spacing))
    }

    pub(in crate::driver) fn new(descriptor: Descriptor, spacing: Duration) -> Self {
        HighResolution {
            descriptor,
            spacing,
            last_ring: Tick::ZERO,
            set_to: Tick::NEVER,
        }
    }

    /// There was a wake-up, which has been taken `now`.
    pub(super) fn note_ring(&mut self, now: Tick) {
        self.last_ring = now;
        self.forget();
    }

    /// A wake-up may have come, and have been taken for a ring of tokio's.
    pub(super) fn forget(&mut self) {
        self.set_to = Tick::NEVER;
    }

    /// Has the waker woken for `target`. Returns false if that is for tokio: the target is far, or
    /// the runtime has ended.
    pub(super) fn set(&mut self, target: Tick, now: Tick, waker: &Waker) -> bool {
        if target.saturating_since(now) > NEAR {
            return false;
        }
        // Expired but not yet delivered: not set again.
        if self.set_to <= now && now < self.set_to.saturating_add(AWAITED) {
            return true;
        }
        let at = target.max(self.last_ring.saturating_add(self.spacing));
        if at != self.set_to {
            let set = self.descriptor.set(at.to_instant(), waker);
            self.set_to = if set { at } else { Tick::NEVER };
        }
        self.set_to == at
    }
}
