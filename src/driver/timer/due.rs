//! When a timer with a deadline fires.
//!
//! # Ground rules
//!
//! * The clock is read only where the deadline is earlier than what the alarm is armed for.
//!   Whatever is later is not due. (But a paused clock may have been advanced past that
//!   without tokio having looked.)
//! * Nothing is rounded down. By default nothing is rounded at all.

use std::time::Duration;

use super::Timer;
use crate::driver::Driver;
use crate::driver::clock::{MILLISECOND, Tick};
use crate::driver::sync::Ordering;

/// When a timer is due whose deadline has only just passed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    AtOnce,
    /// In tokio's next whole millisecond, as tokio's own. So `sleep(Duration::ZERO)` in a
    /// loop waits, and does not spin.
    NextMillisecond,
}

impl Timer {
    /// When a timer with this deadline fires; `None` if it is due.
    #[inline]
    pub(super) fn come(&self, deadline: Tick, due: Due) -> Option<Tick> {
        let driver = self.shard.driver;
        if deadline >= driver.alarm.armed_for() && !driver.alarm.may_pause() {
            return Some(driver.round_up(deadline));
        }
        self.come_early(deadline, due)
    }

    #[cold]
    pub(super) fn come_early(&self, deadline: Tick, due: Due) -> Option<Tick> {
        let driver = self.shard.driver;
        let when = driver.round_up(deadline);
        let now = driver.alarm.now();
        match due {
            Due::AtOnce => (now < driver.round_up_to_tick(deadline)).then_some(when),
            Due::NextMillisecond if now < when => Some(when),
            Due::NextMillisecond => driver.next_millisecond(when, now),
        }
    }
}

impl Driver {
    /// When a deadline fires: not before the configured tick, and where the clock may be
    /// paused, not before tokio's millisecond. Nothing is rounded by default.
    #[inline]
    fn round_up(&self, deadline: Tick) -> Tick {
        if self.settings.tick == 1 && !self.alarm.may_pause() {
            return deadline;
        }
        self.alarm.round_up(self.round_up_to_tick(deadline))
    }

    /// To the configured tick only.
    fn round_up_to_tick(&self, deadline: Tick) -> Tick {
        let opened = Tick(self.opened.load(Ordering::Relaxed));
        deadline.round_up(self.settings.tick, opened)
    }

    /// When a deadline fires that has passed by `now`. tokio fires in the first whole
    /// millisecond at or after a deadline; so does this, for one that has only just come.
    /// `None` if that millisecond is here.
    fn next_millisecond(&self, deadline: Tick, now: Tick) -> Option<Tick> {
        if now.0.saturating_sub(deadline.0) >= MILLISECOND {
            None
        } else if self.alarm.may_pause() {
            // A whole millisecond, which tokio may not have looked at yet.
            (!self.alarm.has_come(deadline)).then_some(deadline)
        } else {
            Some(now.saturating_add(Duration::from_nanos(1)))
        }
    }
}
