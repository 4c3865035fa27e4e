//! Near deadlines: when a timer fires if its deadline is before its shard's `fast_path_from`.
//!
//! A timer on the fast path keeps its deadline, to the nanosecond. For an earlier one,
//! [`Alarm::when_near`] decides. It never rounds down.
//!
//! A driver with a configured tick first rounds the deadline up to the next multiple of the tick
//! since the driver was opened. Then the first row that matches applies:
//!
//! | driver | deadline | the timer fires |
//! | --- | --- | --- |
//! | one that does not know Tokio's milliseconds yet | less than a millisecond ahead, or any if the clock may be paused | as with high resolution |
//! | one whose clock may be paused | any | in Tokio's millisecond; immediately if that has come |
//! | any | at least a millisecond ahead | at its deadline |
//! | high resolution | nearer | at its deadline; a nanosecond from now if the deadline has just passed; immediately if it passed at least a millisecond ago |
//! | any other | nearer | in Tokio's millisecond; immediately if that has come |
//!
//! **Why Tokio's millisecond?** So that a loop of `sleep(Duration::ZERO)` runs as often as with
//! Tokio, however often a check for late timers requests a pass. Otherwise a loop of sleeps shorter
//! than a millisecond would run more often than with Tokio and use more CPU. High
//! resolution fires at the deadline instead. There, a timer that is just due is armed for the next
//! nanosecond, so that such a loop does not spin.
//!
//! **Has a millisecond come?** On a multi-thread runtime, the real clock answers. A current-thread
//! runtime has a clock that may be paused or may have been moved, and that can be read only inside
//! the runtime. There, it answers, unless the tick passed less than a millisecond ago: Tokio may
//! not have read its clock since. Then, and on threads outside the runtime, the probe asks Tokio.
//!
//! **A driver with a configured tick has no fast path**, because its deadlines have to be rounded.
//!
//! A race remains. Until a pass has re-armed the alarm, a timer that is due within a millisecond
//! (or already, if the pass is late) may take the fast path. It fires in that pass or the next,
//! instead of in Tokio's millisecond.

use super::alarm::Alarm;
use crate::clock::{MILLISECOND, Tick};
use crate::platform::now_if_current;

impl Alarm {
    /// Returns the tick at which a timer with a near deadline fires, or `None` if the timer is due
    /// already.
    #[cold]
    pub(super) fn when_near(&self, deadline: Tick) -> Option<Tick> {
        let when = match self.settings.tick {
            None => deadline,
            Some(tick) => deadline.round_up(tick.get(), self.opened),
        };
        if self.may_pause() {
            // On a current-thread runtime, the second argument is unused.
            return self.in_tokios_millisecond(when, Tick::ZERO);
        }
        let now = Tick::really_now();
        if when.0 >= now.0.saturating_add(MILLISECOND) {
            Some(when)
        } else if self.settings.is_precise {
            self.at_own_deadline(when)
        } else {
            self.in_tokios_millisecond(when, now)
        }
    }

    /// Returns the tick at which Tokio fires this deadline, or `None` if that has come. (While
    /// Tokio's milliseconds are not known: see `at_own_deadline`.) `now` is the real time, for a
    /// multi-thread runtime.
    fn in_tokios_millisecond(&self, when: Tick, now: Tick) -> Option<Tick> {
        let Some(fires_at) = self.grid.round_up(when) else {
            return self.at_own_deadline(when);
        };
        if !self.settings.current_thread {
            return (now < fires_at).then_some(fires_at);
        }
        let has_come = match now_if_current(self.runtime).map(Tick::of) {
            Some(now) if now < fires_at => false,
            Some(now) if now.0 - fires_at.0 >= MILLISECOND => true,
            // There is no answer in a task dump, or if the driver is shutting down, which wakes the
            // timer.
            _ => self.ask(|timer| timer.tokio_has_reached(fires_at)) == Some(true),
        };
        (!has_come).then_some(fires_at)
    }

    /// Returns when a timer fires if Tokio's milliseconds do not apply: with high resolution, or
    /// while they are not known.
    fn at_own_deadline(&self, when: Tick) -> Option<Tick> {
        let now = self.read_clock().0;
        let is_long_due = now.saturating_sub(when.0) >= MILLISECOND;
        (!is_long_due).then(|| when.max(Tick(now + 1)))
    }

    /// Returns the end of Tokio's last millisecond: Tokio has fired its own timers up to there (see
    /// `pass.rs`). Returns `now` on a multi-thread runtime, with high resolution, if the clock may
    /// be paused, or while Tokio's milliseconds are not known.
    pub(super) fn last_millisecond(&self, now: Tick) -> Tick {
        if !self.settings.current_thread || self.settings.is_precise || self.may_pause() {
            return now;
        }
        let next = self.grid.round_up(Tick(now.0 + 1));
        next.map_or(now, |next| Tick(next.0 - MILLISECOND))
    }
}
