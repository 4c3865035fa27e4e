//! When a timer fires.
//!
//! *The plain case.* A timer whose deadline is at or after its shard's `plain_from` keeps its
//! deadline, to the nanosecond; a turn at that time or later fires the timer. `timer.rs` does not
//! call this file for such a timer. `plain_from` is a millisecond after `armed_for`; exceptions are
//! in `Alarm::plain_from`. For earlier deadlines [`Driver::when_near`]
//! decides. No deadline is rounded down.
//!
//! *A tick.* A driver with a configured tick has no plain timers. It rounds each deadline up to a
//! multiple of the tick since the driver was opened.
//!
//! *tokio's millisecond.* A timer that is due within a millisecond fires in tokio's millisecond, as
//! tokio's own timers do. So `sleep(Duration::ZERO)` in a loop goes round as often as with tokio,
//! however often an overdue check finds the runtime busy. The first such timer of a
//! generation finds where tokio's milliseconds begin: see `alarm/grid.rs`.
//!
//! *Current-thread runtimes.* Their clock may be paused, or may have been moved, and can be read in
//! the runtime only. There a millisecond that the clock has not reached has not come. Otherwise tokio
//! itself tells, by the probe: that works on any thread, in any context.
//!
//! *Clocks that may be paused.* No timer is plain, and all fire in tokio's millisecond. Auto-advance
//! must not stop at the deadline of a timer that was cancelled, so each cancel looks at the alarm:
//! see `Driver::retract`.
//!
//! *High resolution.* A deadline is not rounded, unless a tick is configured or the clock may be
//! paused. A deadline that passed less than a millisecond ago fires at the next ring: otherwise a
//! loop of timers for now would spin. A deadline that passed earlier than that is due at once.
//!
//! A race remains. Where an alarm is late by more than a millisecond, a timer for now or a little
//! later counts as plain until the late turn has armed anew, and fires in that turn.

use std::time::Duration;

use super::driver::Driver;
use crate::clock::{MILLISECOND, Tick};
use crate::sync::Ordering;

impl Driver {
    /// When a timer fires whose deadline is before `plain_from`; `None` if due already. `clock` is
    /// that of the timer's shard.
    #[cold]
    pub(super) fn when_near(&self, deadline: Tick, clock: Tick) -> Option<Tick> {
        let when = self.round_up_to_tick(deadline);
        if !self.alarm.may_pause() {
            if let Some(ringing) = self.rings_for(when, clock) {
                return Some(ringing);
            }
            if when.0 >= Tick::really_now().0.saturating_add(MILLISECOND) {
                return Some(when);
            }
            if self.settings.is_precise {
                return self.unless_long_due(when);
            }
        }
        match self.alarm.tokios_millisecond(when) {
            None => self.unless_long_due(when),
            Some(tokios) => (!self.has_come(tokios)).then_some(tokios),
        }
    }

    /// Rounds up to the configured tick.
    fn round_up_to_tick(&self, deadline: Tick) -> Tick {
        if self.settings.tick == 1 {
            return deadline;
        }
        let opened = Tick(self.opened.load(Ordering::Relaxed));
        deadline.round_up(self.settings.tick, opened)
    }

    /// Without tokio's milliseconds: the driver does without them, or the runtime has not taken the
    /// driver task yet. A deadline that passed less than a millisecond ago waits for the next ring.
    fn unless_long_due(&self, when: Tick) -> Option<Tick> {
        let now = self.alarm.now();
        let is_long_due = now.0.saturating_sub(when.0) >= MILLISECOND;
        let soonest = now.saturating_add(Duration::from_nanos(1));
        (!is_long_due).then(|| when.max(soonest))
    }

    /// Fast path: the alarm is set for this deadline's millisecond of tokio's, or is ringing in that
    /// millisecond now, so no clock has to be read. Many timers that are due together come here. (If
    /// the millisecond has passed meanwhile, the turn that follows fires the timer.)
    fn rings_for(&self, when: Tick, clock: Tick) -> Option<Tick> {
        let tokios = self.alarm.grid.round_up(when)?;
        let ends = |tick: Tick| tick <= tokios && tokios.0 - tick.0 < MILLISECOND;
        let armed_for = self.alarm.armed_for();
        let rings = match armed_for <= clock {
            true => ends(Tick(clock.0 + 1)),
            false => ends(armed_for),
        };
        rings.then_some(tokios)
    }

    /// Whether this millisecond of tokio's has come.
    fn has_come(&self, tokios: Tick) -> bool {
        match self.settings.current_thread {
            true => self.alarm.has_come(tokios),
            false => tokios <= Tick::really_now(),
        }
    }
}
