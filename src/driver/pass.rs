//! Expiry passes: when one runs, and what it does.
//!
//! **An expiry pass fires every timer that is due, at most [`BATCH`] of them per lock acquisition,
//! and then re-arms the alarm for what is left.** A pass runs in two places:
//!
//! 1. In the alarm's waker, when the alarm fires, while tokio polls its drivers. The head of
//!    `alarm/mod.rs` says why.
//! 2. In a poll of the driver task. The runtime polls that task once after it was spawned. Later it
//!    is polled when a thread has requested a pass, for example because the alarm fired early,
//!    because its time had already come when it was to be armed, or because the check below found a
//!    late timer in a busy runtime.
//!
//! In each shard, a pass first applies the late cancels that are queued. A pass may fire any number
//! of timers, so no timer waits for a later pass while tasks keep the workers busy. The same is
//! true of tokio's own pass, which takes three times as long per timer in a mass expiry.
//!
//! **On a current-thread runtime, the alarm fires only the timers that were due by the end of
//! tokio's last millisecond**, as tokio does. (With high resolution, or if the clock may be paused,
//! it fires all that are due.) If it also fired those that are due by now, a late pass would take
//! along some timers of the next millisecond, and tasks in a closed loop would gather in fewer,
//! larger batches. In the benchmark `delay` of `benches/programs`, a server with 500 connections
//! then answered 0.94 times as many requests as with tokio's timers. With this rule, it answers as
//! many (1.00 times).
//!
//! # The check for late timers
//!
//! A task that makes a timer with `sleep` or `timeout` compares the next deadline of its shard with
//! the time. If that timer is late, or due within [`SOON`], the task runs a check:
//!
//! * **Late.** tokio polls its timers only when a worker has run out of tasks, or has polled 61 of
//!   them. If a timer is late on a busy multi-thread runtime, the check wakes the driver task,
//!   which runs sooner than that.
//! * **Cancelled.** The alarm stays armed for a timer that was cancelled, and a worker that is
//!   asleep would wake up for nothing. If the next deadline is within [`SOON`] and its timer was
//!   cancelled, the check re-arms the alarm for the timer after it. (It does not see a cancel that
//!   is still queued.)
//!
//! # Ground rules
//!
//! * **To request a pass, wake the driver task.** If a task is woken while it is being polled,
//!   tokio polls it again, so no request is lost.
//! * **Wake wakers while no lock is held**, because a waker runs user code. If it panics, the other
//!   wakers are still woken, and the driver goes on.
//! * **Check the generation in every critical section that fires timers**, because a pass may
//!   outlive its runtime in a slow waker, and the shards may run for another runtime by then. The
//!   rest of such a pass fires nothing. It still applies late cancels, may search a shard for its
//!   next deadline, and re-arms the alarm. All of these may by then concern the next runtime, and
//!   do no harm there.

use std::mem;
use std::sync::Arc;
use std::task::{Poll, Wake, Waker};

use super::context::LOCAL;
use super::driver::{Driver, DriverRef};
use super::shard::{SOON, Shard};
use super::wakers;
use crate::clock::{MILLISECOND, Tick};
use crate::settings::{BATCH, Generation};
use crate::sync::lock;

/// A pass that is under way.
pub(super) struct Pass {
    pub(super) generation: Generation,
    /// The tick up to which due timers fire.
    pub(super) now: Tick,
    /// The time as last read. It is read again while timers are still due.
    pub(super) seen: Tick,
    /// The wakers that this critical section has taken out, and their number.
    pub(super) batch: [Option<Waker>; BATCH],
    pub(super) len: usize,
}

/// Makes a running driver the waker of its own alarm.
impl Wake for DriverRef {
    /// Runs when the alarm fires: while tokio polls its drivers, or on a thread that is arming.
    fn wake(self: Arc<Self>) {
        let DriverRef { driver, generation } = *self;
        if !self.is_open() || driver.alarm.note_fired() {
            return;
        }
        let now = driver.alarm.now();
        if driver.alarm.is_early(now) {
            // The runtime may be about to shut down, so do not touch the interval here. The driver
            // task re-arms it, if that task still runs.
            driver.request_pass();
        } else {
            driver.run_pass(generation, driver.last_millisecond(now));
        }
    }
}

impl DriverRef {
    /// Polls the driver task. Ready when the driver is to shut down, so that the task ends.
    pub(super) fn poll_task(self, task: &Waker) -> Poll<()> {
        let DriverRef { driver, generation } = self;
        let task = task.clone();
        let before = lock(&driver.task).replace(task);
        let now = driver.alarm.now();
        // Nobody requested the first poll. If a clock was advanced, a pass here might fire timers
        // before tokio's time driver has reached their deadlines.
        if before.is_none() && driver.alarm.may_pause() {
            driver.rearm();
        } else {
            driver.run_pass(generation, now);
        }
        // Read this last: whoever shuts the driver down stores `ends` first, and then wakes this
        // task.
        if driver.is_shut_down(generation) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

impl Driver {
    /// Fires all timers that are due at `now`, and arms the alarm for what is left.
    pub(super) fn run_pass(&'static self, generation: Generation, now: Tick) {
        let mut pass = Pass {
            generation,
            now,
            seen: now,
            batch: [const { None }; BATCH],
            len: 0,
        };
        let mut is_idle = true;
        for shard in self.shards() {
            shard.apply_late_cancels();
            while shard.next() <= now && shard.expire(&mut pass) {
                let fired = mem::take(&mut pass.len);
                is_idle &= fired == 0;
                let batch = pass.batch[..fired].iter_mut();
                wakers::wake_all(batch.filter_map(Option::take));
                if shard.next() <= now {
                    // If a timer has to wait because the pass is long, that wait counts as lag.
                    pass.seen = self.alarm.now();
                }
            }
        }
        if let Some(counts) = self.last(generation) {
            counts.count_pass(is_idle);
        }
        if is_idle {
            // Nothing was due, so the timer with the earliest deadline may have been cancelled.
            // Search that shard for its next deadline. Otherwise the alarm would approach a distant
            // one in several steps.
            let earliest = self.shards().iter().min_by_key(|shard| shard.next());
            earliest.map(Shard::try_refresh);
        }
        self.rearm();
    }

    /// Wakes the driver task, which then runs a pass. Before the first poll of that task there is
    /// no waker yet, and none is needed, because the runtime polls the task anyway.
    #[cold]
    pub(super) fn request_pass(&self) {
        let task = lock(&self.task).clone();
        wakers::wake_all(task);
    }
}

/// How long, in nanoseconds, a thread waits after one check before another may request a pass.
const BETWEEN_REQUESTS: u64 = 250_000;
/// How long it waits before another check may re-arm the alarm. This is longer, because an idle
/// runtime gains less from re-arming than it pays for tokio's lock.
const BETWEEN_ARMINGS: u64 = SOON / 2;

impl Driver {
    /// Checks for late timers, and for a cancelled timer that the alarm is armed for. Call this if
    /// the next timer of the shard is late or will soon be due.
    #[cold]
    pub(super) fn check_for_late(&'static self, shard: &Shard, now: Tick) {
        // If this thread last checked more than a millisecond ago, its tasks probably have long
        // polls, or the worker was preempted. Do not request a pass then, because the tasks that a
        // pass wakes would delay tokio's own poll of its timers.
        let last_check = LOCAL.with(|local| local.checked.replace(now.0));
        let are_polls_quick = now.0.abs_diff(last_check) < MILLISECOND;
        let is_late = shard.next() <= now;
        let interval = if is_late {
            BETWEEN_REQUESTS
        } else {
            BETWEEN_ARMINGS
        };
        if now.0.abs_diff(LOCAL.with(|local| local.acted.get())) < interval {
            return;
        }
        LOCAL.with(|local| local.acted.set(now.0));
        if !is_late {
            self.leave_cancelled_out(shard);
        } else if are_polls_quick && !self.settings.current_thread {
            self.request_pass();
        }
    }

    /// Re-arms the alarm if the shard's next timer was cancelled. Does nothing if the shard is
    /// busy.
    pub(super) fn leave_cancelled_out(&'static self, shard: &Shard) {
        if shard.try_refresh() {
            self.rearm();
        }
    }
}
