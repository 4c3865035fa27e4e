//! tokio's milliseconds, and clocks that are, or may be, paused: those of current-thread runtimes.
//!
//! # Ground rules
//!
//! * **tokio's milliseconds.** A timer that is due within a millisecond fires in tokio's
//!   millisecond, and where the clock may be paused, all timers do. tokio does not say where its
//!   milliseconds begin. Probes of its own timers do, once per driver, when the first such timer
//!   comes.
//! * **Own clock.** The context here may be another runtime's, also where the driver's task is
//!   polled. So the clock is read in the driver's own runtime.
//! * **Auto-advance must not stop at cancelled timers.** Where the clock may be paused, the alarm
//!   is never left armed for a timer that was cancelled.
//! * Probes are made under the lock of the alarm's timer, and only once the runtime [has taken the
//!   driver task](AlarmTimer::runs): that runtime has not ended then.

use std::pin::pin;
use std::task::{Context, Waker};

use tokio::task::coop;

use super::alarm_timer::AlarmTimer;
use super::clock::{MILLISECOND, Tick};
use super::sync::{AtomicBool, AtomicU64, Ordering, enter, now_in};

/// Where tokio's milliseconds begin, and whether the clock may be paused.
pub(super) struct Grid {
    /// Offset of tokio's millisecond grid, or [`UNKNOWN`].
    offset: AtomicU64,
    may_pause: AtomicBool,
}

const UNKNOWN: u64 = u64::MAX;

impl Grid {
    pub(super) fn new() -> Self {
        Grid {
            offset: AtomicU64::new(UNKNOWN),
            may_pause: AtomicBool::new(false),
        }
    }

    pub(super) fn forget(&self) {
        self.offset.store(UNKNOWN, Ordering::Relaxed);
        self.may_pause.store(false, Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn may_pause(&self) -> bool {
        self.may_pause.load(Ordering::Relaxed)
    }

    /// Rounds up to the millisecond that tokio fires in. `None` while the grid is not known.
    pub(super) fn round_up(&self, deadline: Tick) -> Option<Tick> {
        let offset = self.offset.load(Ordering::Relaxed);
        (offset != UNKNOWN).then(|| deadline.round_up(MILLISECOND, Tick(offset)))
    }

    pub(super) fn learn(&self, timer: &AlarmTimer) {
        if let Some(begin) = timer.a_millisecond_of_tokios() {
            self.offset.store(begin.0 % MILLISECOND, Ordering::Relaxed);
        }
    }

    /// Reads the clock, and notes whether that may be paused: where the clock is not the real clock
    /// (paused, or resumed after an advance), and where tokio is built to pause clocks.
    pub(super) fn note_clock(&self, timer: &mut AlarmTimer) -> Tick {
        let before = Tick::really_now();
        let now = timer.now();
        let is_virtual = now < before || now > Tick::really_now();
        if timer.runs && timer.is_sane(now) && (is_virtual || cfg!(feature = "test-util")) {
            self.learn(timer);
            self.set_may_pause(timer);
        }
        now
    }

    fn set_may_pause(&self, timer: &mut AlarmTimer) {
        self.may_pause.store(true, Ordering::Relaxed);
        // The alarm was armed by another clock, and is to be armed anew, or disarmed.
        if timer.armed != Tick::NEVER {
            timer.armed = Tick::ZERO;
        }
    }

    #[cfg(all(test, loom))]
    pub(super) fn know(&self) {
        self.offset.store(0, Ordering::Relaxed);
    }

    #[cfg(all(test, loom))]
    pub(super) fn pause(&self, timer: &mut AlarmTimer) {
        self.know();
        self.set_may_pause(timer);
    }
}

impl AlarmTimer {
    /// By its runtime's own clock.
    pub(super) fn now(&self) -> Tick {
        now_in(&self.runtime).map_or(Tick::ZERO, Tick::of)
    }

    pub(super) fn has_come(&self, deadline: Tick) -> bool {
        let Some(_inside) = enter(&self.runtime) else {
            return true;
        };
        let sleep = coop::unconstrained(tokio::time::sleep_until(deadline.to_instant()));
        let polled = pin!(sleep).poll(&mut Context::from_waker(Waker::noop()));
        polled.is_ready()
    }

    /// Far enough from both ends of time to be searched. No clock is, on a thread that is about
    /// to end.
    fn is_sane(&self, now: Tick) -> bool {
        (Tick(1)..Tick(Tick::LAST.0 - MILLISECOND)).contains(&now)
    }

    /// The beginning of a millisecond of tokio's, told by which deadlines have come. `None` where
    /// the clock is behind tokio's for now.
    fn a_millisecond_of_tokios(&self) -> Option<Tick> {
        let tries = 0..8;
        tries
            .filter(|_| self.is_sane(self.now()))
            .map(|_| self.last_to_have_come())
            // The clock may have moved on meanwhile: another thread drives the runtime.
            .find(|come| !self.has_come(Tick(come.0 + 1)))
    }

    /// The last deadline that has come, while the clock stands still.
    fn last_to_have_come(&self) -> Tick {
        // The origin is older than every runtime.
        let (mut come, mut to_come) = (Tick::ZERO.0, self.now().0 + MILLISECOND);
        while to_come - come > 1 {
            let between = come + (to_come - come) / 2;
            if self.has_come(Tick(between)) {
                come = between;
            } else {
                to_come = between;
            }
        }
        Tick(come)
    }
}
