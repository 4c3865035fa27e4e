//! When a timer with a deadline fires.
//!
//! # Ground rules
//!
//! * Nothing is rounded down. A deadline a millisecond ahead or more is not rounded at all, unless
//!   a tick was set, the clock may be paused, or the alarm is already set for tokio's millisecond
//!   of that deadline.
//! * **No finer than tokio's clock.** A timer that is due within a millisecond fires in tokio's
//!   millisecond, as tokio's own timers do. So `sleep(Duration::ZERO)` in a loop goes round as
//!   often as with tokio, however often an overdue check finds the runtime busy. A driver of high
//!   resolution fires such timers at their deadline.
//! * The clock is read only where the deadline is earlier than `plain_from`, and the alarm is not
//!   certain to ring in tokio's millisecond of that deadline. (Where an alarm is late
//!   by more than a millisecond, a timer for now or a little later counts as plain until the late
//!   turn begins, and fires in that turn.)

use std::time::Duration;

use super::Driver;
use super::clock::{MILLISECOND, Tick};
use super::sync::Ordering;

impl Driver {
    /// When a timer fires whose deadline is earlier than `plain_from`; `None` if due already.
    /// `clock` is that of the timer's shard.
    #[cold]
    pub(super) fn when_near(&self, deadline: Tick, clock: Tick) -> Option<Tick> {
        let when = self.round_up_to_tick(deadline);
        let may_pause = self.alarm.may_pause();
        let tokios = match self.settings.is_precise && !may_pause {
            true => None,
            false => self.alarm.tokios_millisecond(when),
        };
        if !may_pause && tokios.is_some_and(|tokios| self.rings_for(tokios, clock)) {
            return tokios;
        }
        let now = self.alarm.now();
        if !may_pause && when.0 >= now.0.saturating_add(MILLISECOND) {
            return Some(when);
        }
        match tokios {
            Some(tokios) if now < tokios => Some(tokios),
            Some(tokios) => self.is_still_to_come(tokios, now).then_some(tokios),
            None if now.0.saturating_sub(when.0) >= MILLISECOND => None,
            None => Some(when.max(now.saturating_add(Duration::from_nanos(1)))),
        }
    }

    /// Whether the alarm is set for this very millisecond of tokio's, or is ringing now and the
    /// shard's clock is at most a millisecond before: the clock is not read for each of many timers
    /// that are due together. (If the millisecond has passed meanwhile, the turn or the ring that
    /// follows fires the timer.)
    fn rings_for(&self, tokios: Tick, clock: Tick) -> bool {
        let ends = |tick: Tick| tick <= tokios && tokios.0 - tick.0 < MILLISECOND;
        let armed_for = self.alarm.armed_for();
        match armed_for <= clock {
            true => ends(Tick(clock.0 + 1)),
            false => ends(armed_for),
        }
    }

    /// Whether a paused clock shows a millisecond that tokio has not looked at yet.
    fn is_still_to_come(&self, tokios: Tick, now: Tick) -> bool {
        self.alarm.may_pause() && now.0 - tokios.0 < MILLISECOND && !self.alarm.has_come(tokios)
    }

    /// Rounds up to the configured tick.
    fn round_up_to_tick(&self, deadline: Tick) -> Tick {
        if self.settings.tick == 1 {
            return deadline;
        }
        let opened = Tick(self.opened.load(Ordering::Relaxed));
        deadline.round_up(self.settings.tick, opened)
    }
}
