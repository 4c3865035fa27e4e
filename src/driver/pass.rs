//! Expiry passes: when one runs, and what it does.
//!
//! **An expiry pass fires timers that are due, at most [`BATCH`](crate::settings::BATCH) of them per
//! lock acquisition, and then re-arms the alarm.** A pass runs in two places:
//!
//! 1. In the alarm's waker, when the alarm fires, while Tokio polls its drivers. The head of
//!    `alarm/mod.rs` says why.
//! 2. In a poll of the driver task. The runtime polls that task once after it was spawned. Later it
//!    is polled when a thread has requested a pass, for example because the alarm fired early,
//!    because its time had already come when it was to be armed, because timers were deferred, because
//!    a pass has not moved all entries of a large slot, or because the check below found a late timer in
//!    a busy runtime.
//!
//! # A mass expiry
//!
//! **A pass fires only about [`PASS`] of the timers that it finds due. It *defers* the others, and the
//! driver task fires [`PASS`] of those each time it runs.** So I/O goes on while a million timers expire:
//!
//! * While a pass runs in the alarm's waker, no other worker can poll Tokio's drivers.
//! * The tasks that a pass wakes go into the run queue of one worker. If that were full, Tokio would move
//!   half of it into the queue that all workers share, where calls from other threads would wait behind
//!   all of them. A task that wakes itself goes to the end of its queue, so the driver task runs again
//!   when the tasks that it woke have run.
//!
//! **Timers that become due meanwhile overtake the deferred ones.** A deferred timer is out of the wheel:
//! its waker waits in a list of its shard. That takes some 20 ns, and running its task 1 µs, so passes
//! soon reach the timers that are due now. Those fire directly, if they are few. If there are many, they
//! are deferred, too, but the driver task fires the latest and the first of the list alternately.
//!
//! The driver task may wait in the queue of a worker that blocks. So while timers are deferred, the alarm
//! is set for [`PATIENCE`](super::alarm) later at the latest. If the driver task has not run by then, the
//! alarm fires all that are deferred, in this pass and in later ones, until the task runs.
//!
//! If the clock may be paused, each pass fires all timers that are due, so that they have fired when
//! `advance().await` returns.
//!
//! # Tokio's last millisecond
//!
//! **On a current-thread runtime, the alarm fires only the timers that were due by the end of
//! Tokio's last millisecond**, as Tokio does. (With high resolution, or if the clock may be paused,
//! it fires all that are due.) If it also fired those that are due by now, a late pass would take
//! along some timers of the next millisecond, and tasks in a closed loop would gather in fewer,
//! larger batches: the server of the benchmark `delay` then answers fewer requests than on Tokio's.
//!
//! # The check for late timers
//!
//! A task that makes a timer with `sleep` or `timeout` runs a check if the next deadline of its
//! shard has passed, or is within [`SOON`]:
//!
//! * **Late.** Tokio polls its timers only when a worker has run out of tasks, or has polled 61 of
//!   them. If a timer is late on a busy multi-thread runtime, the check wakes the driver task,
//!   which runs sooner than that.
//! * **Cancelled.** The alarm stays armed for a timer that was cancelled, and a worker that is
//!   asleep would wake up for nothing. If the next deadline is within [`SOON`] and its timer was
//!   cancelled, the check re-arms the alarm for the timer after it.
//!
//! # Ground rules
//!
//! * **Passes may overlap**, on two workers: the alarm's and one that was requested. A critical
//!   section belongs to one pass, and none moves the shard's clock back.
//! * **A pass may outlive its runtime**, in a slow waker. It then finds closed shards, in which nothing
//!   is due.

use std::cell::Cell;
use std::mem;
use std::sync::atomic::Ordering;
use std::task::Waker;

use super::lifecycle::{Driver, Home};
use super::shard::{Pass, SOON, Shard};
use super::wakers;
use crate::clock::{MILLISECOND, Tick};
use crate::platform::{lock, thread_local};
use crate::settings::PASS;

impl Driver {
    /// Runs when the alarm fires.
    pub(super) fn alarm_fired(&self) {
        if !self.is_open() || self.alarm.note_fired() {
            return;
        }
        let now = self.alarm.read_clock();
        if self.alarm.is_early(now) {
            // The runtime may be about to shut down, so do not touch the interval here. The driver
            // task re-arms it, if that task still runs.
            return self.request_pass();
        }
        // The alarm leaves the deferred timers to the driver task, unless that does not come.
        let gives_up = self.alarm.awaited_until() <= now;
        let deferred = if gives_up { usize::MAX } else { 0 };
        self.run_pass(self.alarm.last_millisecond(now), deferred);
    }

    pub(super) fn poll_task(&self, task: &Waker) {
        let task = task.clone();
        let before = lock(&self.task).replace(task);
        let now = self.alarm.read_clock();
        // If the clock may be paused, the first poll only re-arms the alarm: if the clock was
        // advanced, a pass here might fire timers before Tokio's time driver has reached their
        // deadlines. (If a pass was requested before, re-arming requests another.)
        if before.is_none() && self.alarm.may_pause() {
            self.rearm();
        } else {
            self.alarm.note_task();
            self.run_pass(now, PASS);
        }
    }

    /// Fires or defers the timers that are due at `now`, and then fires about `deferred` of those that
    /// were deferred. Arms the alarm for what is left.
    fn run_pass(&self, now: Tick, deferred: usize) {
        // If the clock may be paused, all fire before `advance().await` returns.
        let (most, deferred) = match self.alarm.may_pause() {
            true => (usize::MAX, usize::MAX),
            false => (PASS, deferred),
        };
        let clock = || self.alarm.read_clock();
        let mut pass = Pass::at(now, most, &clock);
        // Each pass begins in another shard, so that none waits until another has nothing due.
        let first = self.passes.fetch_add(1, Ordering::Relaxed) as usize % self.homes.len();
        let (last, next) = self.homes.split_at(first);
        let shards = next.iter().chain(last).map(|home| &home.shard);
        shards.clone().for_each(|shard| shard.fire_due(&mut pass));
        pass.left = deferred;
        let mut fires = |shard: &Shard| shard.fire_deferred(&mut pass);
        while deferred > 0 && shards.clone().filter(|shard| fires(shard)).count() > 0 {}
        let (idle, is_unfinished) = (u64::from(pass.is_idle), pass.sections == 0);
        self.idle_passes.fetch_add(idle, Ordering::Relaxed);
        // Each section has emptied the batch, so `forget` leaks nothing.
        mem::forget(pass);
        self.rearm();
        if is_unfinished || self.alarm.awaited_until() != Tick::NEVER {
            self.request_pass();
        }
    }

    /// Wakes the driver task, which then runs a pass. If the task is being polled, Tokio polls it
    /// again, so no request is lost. Before its first poll there is no waker yet, and none is needed,
    /// because the runtime polls the task anyway.
    #[cold]
    pub(super) fn request_pass(&self) {
        let task = lock(&self.task).clone();
        wakers::wake_all(task);
    }
}

/// Minimum time, in nanoseconds, from a check of a thread to the next that may request a pass.
const BETWEEN_REQUESTS: u64 = 250_000;
/// The same for a check that may re-arm the alarm. It is longer, because such a check delays requests.
const BETWEEN_ARMINGS: u64 = SOON / 2;

/// How late, in nanoseconds, a timer is if a wake-up was lost.
const LOST: u64 = 1_000 * MILLISECOND;

thread_local! {
    /// When this thread last called `check_for_late`, by the clock of the runtime that was current then.
    /// The clock of the present runtime may be behind that.
    static CALLED_AT: Cell<u64> = const { Cell::new(0) };
}
thread_local! {
    /// When it last did so without being refused as too soon.
    static CHECKED_AT: Cell<u64> = const { Cell::new(0) };
}

impl Home {
    /// Checks for late timers, and for a cancelled timer that the alarm is armed for. Call this if
    /// the next timer of the shard is late or will soon be due.
    #[cold]
    pub(super) fn check_for_late(&self, now: Tick) {
        let called_at = CALLED_AT.with(|called_at| called_at.replace(now.0));
        let is_late = self.shard.next() <= now;
        let interval = match is_late {
            true => BETWEEN_REQUESTS,
            false => BETWEEN_ARMINGS,
        };
        if now.0.abs_diff(CHECKED_AT.with(Cell::get)) < interval {
            return;
        }
        CHECKED_AT.with(|checked_at| checked_at.set(now.0));
        // In the last milliseconds before a deadline, every `sleep` comes here. So if this thread last
        // came more than a millisecond ago, its tasks probably have long polls, or the worker was
        // preempted. Do not request a pass then, because the tasks that a pass wakes would delay
        // Tokio's own poll of its timers.
        let are_polls_quick = now.0.abs_diff(called_at) < MILLISECOND;
        // A panic may have taken the wake-ups of the alarm and of the watchdog along.
        let is_lost = now.0.saturating_sub(self.shard.next().0) > LOST;
        if !is_late {
            let held = self.shard.try_lock();
            if held.is_some_and(|state| self.shard.raise_next(state)) {
                self.rearm();
            }
        } else if is_lost || are_polls_quick && !self.alarm.settings.current_thread {
            if let Some(driver) = self.driver.upgrade() {
                driver.request_pass();
            }
        }
    }
}
