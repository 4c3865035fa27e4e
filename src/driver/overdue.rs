//! Overdue checks: timers fire on time in a busy runtime.
//!
//! tokio looks at its timers only where a worker has run out of tasks, or has polled 61 of them. A
//! task that makes a timer looks here whether the next timer of its shard is late, at the price of a
//! comparison. If so, the driver task is woken, and runs sooner than tokio's look.
//!
//! A quiet runtime has another use for the look. Where timers are cancelled, the alarm stays armed
//! for one of them, and a worker that sleeps would wake up for nothing. So a task that makes a timer
//! shortly before has the alarm armed anew.

use super::driver::Driver;
use super::shard::{SOON, Shard};
use crate::clock::{MILLISECOND, Tick};
use crate::sync::Ordering;

/// Minimum interval from a turn, or a check, to a check that asks for a turn.
const BETWEEN_TURNS: u64 = 250_000;
/// The same to a check that has the alarm armed anew.
const BETWEEN_ARMINGS: u64 = SOON / 2;

impl Driver {
    /// The next timer of this shard is overdue, or will soon be due.
    #[cold]
    pub(super) fn check_for_overdue(&self, shard: &Shard, now: Tick) {
        // If the last look in the shard was longer ago, polls take over a millisecond, or the worker
        // was without its processor. Then a check adds no turn: the tasks that a turn wakes would put
        // off tokio's own look at its timers.
        let polls_are_quick = shard.look(now) < MILLISECOND;
        let is_overdue = shard.next() <= now;
        let apart = match is_overdue {
            true => BETWEEN_TURNS,
            false => BETWEEN_ARMINGS,
        };
        // A turn that outlived a runtime with an advanced clock may have left a far later time.
        if now.0.abs_diff(self.checked.load(Ordering::Relaxed)) < apart {
            return;
        }
        // By the driver's own clock: `now` may be another runtime's.
        self.checked.store(self.alarm.now().0, Ordering::Relaxed);
        if !is_overdue {
            self.leave_cancelled_out(now);
        } else if polls_are_quick && !self.settings.current_thread {
            self.ask_for_turn();
        }
    }

    /// Has each shard whose next timer is due soon look whether that was cancelled. If so, arms for
    /// the earliest timer that is left.
    pub(super) fn leave_cancelled_out(&self, now: Tick) {
        let due_soon = self.each_shard().filter(|shard| shard.is_due_soon(now));
        // Not of a shard that another thread holds now.
        let refresh = |shard: &Shard| shard.try_lock().is_some_and(|it| shard.refresh(it));
        if due_soon.filter(|shard| refresh(shard)).count() > 0 {
            self.rearm();
        }
    }
}
