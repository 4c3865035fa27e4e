//! Clocks that are, or may be, paused: those of current-thread runtimes.
//!
//! # Ground rules
//!
//! * **Own clock.** The context here may be another runtime's, also where the driver's task
//!   is polled. So the driver's own runtime is entered, and asked.
//! * **Own milliseconds.** Where the clock may be paused, a timer fires in the same virtual
//!   millisecond as tokio's would. tokio does not say where its milliseconds begin. Probes
//!   of its own timers do, once per driver.
//! * **No draught.** A paused clock goes on to the next timer by itself. So what is armed
//!   there is never armed for a timer that is gone.
//! * Probes are made under the lock of the alarm's timer, and only once the runtime
//!   [has taken the driver task](AlarmTimer::runs): it has not ended then.

use std::pin::pin;
use std::task::{Context, Waker};

use tokio::task::coop;

use super::{Alarm, AlarmTimer};
use crate::driver::clock::{self, MILLISECOND, Tick};
use crate::driver::sync::{Ordering, enter, lock, now_in};

/// The clock is the real one, as far as is known.
pub(super) const NOT_PAUSED: u64 = u64::MAX;

impl Alarm {
    /// Whether the clock is, or may be, paused.
    #[inline]
    pub(in crate::driver) fn may_pause(&self) -> bool {
        self.phase.load(Ordering::Relaxed) != NOT_PAUSED
    }

    /// Only the clock of a current-thread runtime can be paused. From when it may be, deadlines
    /// fire in tokio's virtual milliseconds.
    pub(in crate::driver) fn note_clock(&self) {
        if !self.settings.is_local || self.may_pause() {
            return;
        }
        let mut timer = lock(&self.timer);
        if let Some(timer) = timer.as_mut().filter(|timer| timer.may_be_paused()) {
            let here = timer.a_millisecond_of_tokios();
            self.set_may_pause(timer, here);
        }
    }

    /// A millisecond of tokio's begins `here`.
    fn set_may_pause(&self, timer: &mut AlarmTimer, here: Tick) {
        self.phase.store(here.0 % MILLISECOND, Ordering::Relaxed);
        // What is armed is so by another clock: it is to be armed anew, or taken back.
        if timer.armed != Tick::NEVER {
            timer.armed = Tick::ZERO;
        }
    }

    #[cfg(all(test, loom))]
    pub(in crate::driver) fn pause(&self) {
        let mut timer = lock(&self.timer);
        self.set_may_pause(timer.as_mut().unwrap(), Tick::ZERO);
    }

    /// Where the clock may be paused, rounds up to the millisecond that tokio fires in.
    pub(in crate::driver) fn round_up(&self, deadline: Tick) -> Tick {
        match self.phase.load(Ordering::Relaxed) {
            NOT_PAUSED => deadline,
            phase => deadline.round_up(MILLISECOND, Tick(phase)),
        }
    }

    /// Whether tokio has come to the whole millisecond that this deadline fires in.
    pub(in crate::driver) fn has_come(&self, deadline: Tick) -> bool {
        let timer = lock(&self.timer);
        let timer = timer.as_ref().filter(|timer| timer.runs);
        timer.is_none_or(|timer| timer.has_come(deadline))
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

    /// A clock may be if it is not the real one, or tokio is built to pause clocks.
    fn may_be_paused(&self) -> bool {
        let is_virtual = || cfg!(feature = "test-util") || clock::is_virtual(|| self.now());
        let sane = Tick(1)..Tick(Tick::LAST.0 - MILLISECOND);
        self.runs && sane.contains(&self.now()) && is_virtual()
    }

    /// tokio alone knows where its milliseconds begin, and tells it by which deadlines have
    /// come.
    fn a_millisecond_of_tokios(&self) -> Tick {
        loop {
            let come = self.last_to_have_come();
            // The clock may have moved on meanwhile: another thread drives the runtime.
            if !self.has_come(Tick(come.0 + 1)) {
                return come;
            }
        }
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
