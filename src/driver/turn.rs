//! Turns: firing what is due, a bounded number of timers per hold of a lock.
//!
//! # Ground rules
//!
//! * Wakers are woken, and dropped, with no lock held. One that panics takes
//!   nothing else down: the others are woken, and the driver goes on.
//! * A turn in tokio's turn delays tokio's I/O, so on a multi-thread runtime it
//!   ends after [`IN_TOKIOS_TURN`] timers. What is left goes to the driver task;
//!   and because that task may sit in the queue of a worker that blocks, a
//!   backstop is armed first. A current-thread runtime fires everything, as
//!   tokio does.

use std::future::{Future, poll_fn};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Poll, Waker};
use std::time::Duration;

use super::Driver;
use super::clock::Tick;
use super::registry::Lease;
use super::shard::Shard;
use crate::wheel::core::Progress;

/// Timers, give or take one hold, that a turn inside tokio's turn fires.
const IN_TOKIOS_TURN: usize = 512;
/// The same for one poll of the driver task.
const IN_TASK_POLL: usize = 256;
/// When tokio's turn resumes what it left to the driver task, if need be.
const BACKSTOP: Duration = Duration::from_millis(1);

impl Driver {
    /// Fires what is due at `now`, or about `limit` timers; `true` if all.
    fn turn(&self, now: Tick, limit: usize) -> bool {
        let hold = self.settings.hold();
        let mut batch = Vec::with_capacity(hold.min(64));
        let mut left = limit;
        for home in self.shards() {
            if !fire(&home.shard, now, hold, &mut left, &mut batch) {
                return false;
            }
        }
        true
    }

    /// A turn on the thread that drives time, inside tokio's own.
    pub(super) fn turn_in_tokios_turn(&self, now: Tick) -> bool {
        // One shard: a current-thread runtime, unless a builder said otherwise.
        let limit = if self.settings.fires_all() {
            usize::MAX
        } else {
            IN_TOKIOS_TURN
        };
        let done = self.turn(now, limit);
        if !done {
            self.arm_backstop();
            self.ask_for_turn();
        }
        done
    }

    fn arm_backstop(&self) {
        self.plan.rearm(|| {
            self.arm_with(|alarm| {
                self.plan.take_ring();
                let now = Tick::now();
                let at = now.saturating_add(BACKSTOP);
                alarm.set(at, at, Some(now))
            });
        });
    }
}

/// `false` when `left` ran out before all that is due had been fired.
fn fire(shard: &Shard, now: Tick, hold: usize, left: &mut usize, batch: &mut Vec<Waker>) -> bool {
    if shard.next() > now && !shard.has_mail() {
        return true;
    }
    loop {
        let progress = shard.expire(now, hold, batch);
        batch.drain(..).for_each(wake);
        if let Progress::CaughtUp = progress {
            return true;
        }
        *left = left.saturating_sub(hold);
        if *left == 0 {
            return false;
        }
    }
}

/// Wakes a task; its panic, if it has one, is its own affair.
pub(super) fn wake(waker: Waker) {
    // The hook has reported it; there is nobody here to whom it could be returned.
    let Err(payload) = catch_unwind(AssertUnwindSafe(|| waker.wake())) else {
        return;
    };
    if let Err(worse) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        mem::forget(worse);
    }
}

/// The driver task: does what tokio's turn left over, and re-arms.
pub(super) fn task(lease: Lease) -> impl Future<Output = ()> + Send {
    poll_fn(move |cx| {
        let driver = lease.driver();
        driver.listen(cx.waker());
        if driver.turn(Tick::now(), IN_TASK_POLL) {
            driver.rearm();
        } else {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    })
}
