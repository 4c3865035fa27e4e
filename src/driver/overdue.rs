//! The check for late timers: a task that makes a timer checks, at the price of a comparison, whether the
//! next timer of its shard is late, or was cancelled.
//!
//! *Late.* tokio polls its timers only when a worker has run out of tasks, or has polled 61 of them. In a
//! busy runtime, the driver task is woken instead, and runs sooner than that.
//!
//! *Cancelled.* The alarm stays armed for a timer that was cancelled, and a worker that sleeps would wake
//! up for nothing. In an idle runtime, the alarm is re-armed shortly before.

use super::context;
use super::driver::Driver;
use super::shard::{SOON, Shard};
use crate::clock::{MILLISECOND, Tick};

/// How long a thread waits, after a check that did something, before a check requests a pass.
const BETWEEN_REQUESTS: u64 = 250_000;
/// How long a thread waits before a check re-arms the alarm. An idle runtime that arms and cancels gains
/// little from each, and pays for each with tokio's lock.
const BETWEEN_ARMINGS: u64 = SOON / 2;

impl Driver {
    /// The next timer of this shard is late, or will soon be due.
    #[cold]
    pub(super) fn check_for_late(&self, shard: &Shard, now: Tick) {
        // If this thread's last check was longer ago, polls take over a millisecond, or the worker was
        // without its processor. Then a check requests no pass: the tasks that a pass wakes would delay
        // tokio's own poll of its timers.
        let polls_are_quick = context::since_last_check(now) < MILLISECOND;
        let is_late = shard.next() <= now;
        let interval = if is_late {
            BETWEEN_REQUESTS
        } else {
            BETWEEN_ARMINGS
        };
        if !context::is_time_to_act(now, interval) {
            return;
        }
        if !is_late {
            self.leave_cancelled_out(shard);
        } else if polls_are_quick && !self.settings.current_thread {
            self.ask_for_turn();
        }
    }

    /// Arms for the earliest timer that is left, if the shard's next timer was cancelled.
    pub(super) fn leave_cancelled_out(&self, shard: &Shard) {
        if shard.refresh() {
            self.rearm();
        }
    }
}
