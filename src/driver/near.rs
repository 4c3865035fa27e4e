//! Near deadlines: when a timer fires if its deadline is before its shard's `fast_path_from`.
//!
//! A timer on the fast path keeps its deadline, to the nanosecond, and never comes here: nothing
//! has to be rounded for it, and the alarm need not be moved. `fast_path_from` is a millisecond
//! after the alarm fires (exceptions are in `Alarm::fast_path_from`). For an earlier deadline,
//! [`Alarm::when_near`] decides. It never rounds down.
//!
//! A driver with a configured tick first rounds the deadline up to the next multiple of the tick
//! since the driver was opened. Then the first row that matches applies:
//!
//! | driver | deadline | the timer fires |
//! | --- | --- | --- |
//! | one whose clock may be paused | any | in Tokio's millisecond; immediately if that has come |
//! | any except high resolution | in the millisecond for which the alarm is armed | in that millisecond; no clock is read |
//! | any | at least a millisecond ahead | at its deadline |
//! | high resolution | nearer | at its deadline; when the alarm next fires if the deadline has just passed; immediately if it passed at least a millisecond ago |
//! | any other | nearer | in Tokio's millisecond; immediately if that has come |
//!
//! **Why Tokio's millisecond?** So that a loop of `sleep(Duration::ZERO)` runs as often as with
//! Tokio, however often a check for late timers requests a pass. Otherwise a loop of sleeps shorter
//! than a millisecond would run more often than with Tokio and use more CPU. High
//! resolution fires at the deadline instead. There, a timer that is already due waits until the
//! alarm next fires, so that such a loop does not spin.
//!
//! **Has a millisecond come?** On a multi-thread runtime, the real clock answers. A current-thread
//! runtime has a clock that may be paused or may have been moved, and that can be read only inside
//! the runtime. There, that clock answers, except in the millisecond after the one in question, in
//! which Tokio may not have read its clock yet. Then, and on threads outside the runtime, the probe
//! asks Tokio.
//!
//! **A driver with a configured tick has no fast path**, because its deadlines have to be rounded.
//! (Rounding in every poll and reset instead, before the fast path, would cost all other drivers
//! a few instructions for each.)
//!
//! A race remains. If the alarm is late by more than a millisecond, a timer that is due now or
//! shortly takes the fast path until the late pass has re-armed the alarm. It fires in that pass or
//! the next, instead of in Tokio's millisecond.

use std::time::Duration;

use super::alarm::Alarm;
use crate::clock::{MILLISECOND, Tick};

impl Alarm {
    /// Returns when a timer with a deadline before `fast_path_from` fires, or `None` if it is due
    /// already. `clock` is the clock of the timer's shard.
    #[cold]
    pub(super) fn when_near(&self, deadline: Tick, clock: Tick) -> Option<Tick> {
        let when = match self.settings.tick {
            None => deadline,
            Some(tick) => deadline.round_up(tick.get(), self.opened),
        };
        if self.may_pause() {
            return self.in_tokios_millisecond(when, None);
        }
        // If the alarm is firing now, it has fired the timers up to the shard's clock.
        let fires_at = self.armed_for().max(Tick(clock.0 + 1));
        if let Some(tokios) = self.in_the_alarms_millisecond(when, fires_at) {
            return Some(tokios);
        }
        let now = Tick::really_now();
        if when.0 >= now.0.saturating_add(MILLISECOND) {
            Some(when)
        } else if self.settings.is_precise {
            self.at_own_deadline(when)
        } else {
            self.in_tokios_millisecond(when, Some(now))
        }
    }

    /// Returns when a timer fires that fires with Tokio's, or `None` if it is due already. `now` is
    /// the real time, if it was read.
    fn in_tokios_millisecond(&self, when: Tick, now: Option<Tick>) -> Option<Tick> {
        match self.grid.round_up(when) {
            None => self.at_own_deadline(when),
            Some(tokios) => (!self.has_come(tokios, now)).then_some(tokios),
        }
    }

    /// Returns when a timer fires if Tokio's milliseconds do not apply: with high resolution, or
    /// while they are not known, because the driver task is just being spawned. A deadline that passed
    /// less than a millisecond ago waits until the alarm next fires.
    fn at_own_deadline(&self, when: Tick) -> Option<Tick> {
        let now = self.now();
        let is_long_due = now.0.saturating_sub(when.0) >= MILLISECOND;
        let soonest = now.saturating_add(Duration::from_nanos(1));
        (!is_long_due).then(|| when.max(soonest))
    }

    /// Returns the Tokio millisecond in which this deadline fires, if the alarm is armed for that
    /// millisecond or is firing in it now. Then no clock has to be read, which matters because many
    /// timers that are due together may come here. (If the millisecond has passed by then, the pass
    /// that follows fires the timer.)
    fn in_the_alarms_millisecond(&self, when: Tick, fires_at: Tick) -> Option<Tick> {
        if self.settings.is_precise {
            return None;
        }
        let tokios = self.grid.round_up(when)?;
        let is_same = fires_at <= tokios && tokios.0 - fires_at.0 < MILLISECOND;
        is_same.then_some(tokios)
    }

    /// Returns the end of Tokio's last millisecond: Tokio has fired its own timers up to there (see
    /// `pass.rs`). Returns `now` on a multi-thread runtime, with high resolution, if the clock may
    /// be paused, and while Tokio's milliseconds are not known.
    pub(super) fn last_millisecond(&self, now: Tick) -> Tick {
        if !self.settings.current_thread || self.settings.is_precise || self.may_pause() {
            return now;
        }
        let next = self.grid.round_up(Tick(now.0 + 1));
        next.map_or(now, |next| Tick(next.0 - MILLISECOND))
    }

    /// Returns `true` if this millisecond of Tokio's has come. Returns `false` if the driver is
    /// about to shut down, which wakes the timer.
    fn has_come(&self, tokios: Tick, now: Option<Tick>) -> bool {
        if !self.settings.current_thread {
            return tokios <= now.unwrap_or_else(Tick::really_now);
        }
        self.ask(|timer| timer.has_come_by_now(tokios)) == Some(true)
    }
}
