//! Turns: due timers fire, and the alarm is armed for the next.
//!
//! **A turn fires all timers that are due, at most [`HOLD`] of them per hold of a shard's lock, and arms
//! the alarm for what is left.** It begins in one of two places:
//!
//! 1. The alarm rings, inside tokio's own turn. Why is the turn in the waker, and not in a task? A task
//!    that is woken waits in the queue of a worker, which may be long; and where that worker blocks, no
//!    other worker takes the task over.
//! 2. The driver task is polled. A thread has asked for that turn: the alarm rang early, or while it was
//!    set; or an [overdue check](super::overdue) found a late timer in a busy runtime.
//!
//! # Ground rules
//!
//! * A request for a turn is a wake of the driver task. tokio polls a task again that is woken while it
//!   is polled, so no request is lost.
//! * Wakers are woken with no lock held. A waker that panics takes nothing else down: the other
//!   wakers are woken, and the driver goes on.
//! * A turn may outlive its runtime, in a slow waker, and the shards may serve another runtime by
//!   then. Every hold checks the generation; the rest of such a turn does nothing.

use std::sync::Arc;
use std::task::{Poll, Wake, Waker};

use super::alarm::interval::AlarmTimer;
use super::driver::{Driver, DriverRef};
use super::wakers;
use crate::clock::Tick;
use crate::settings::{Generation, HOLD};
use crate::sync::{Ordering, lock};

/// A turn that is under way.
pub(super) struct Turn {
    pub(super) generation: Generation,
    /// Timers that are due by then are fired.
    pub(super) now: Tick,
    /// The time, read before this hold.
    pub(super) seen: Tick,
    /// The wakers that this hold has taken out.
    pub(super) batch: Vec<Waker>,
}

/// A driver in service is the waker of its own alarm.
impl Wake for DriverRef {
    /// The alarm goes off: inside of tokio's turn, or on a thread that is arming.
    fn wake(self: Arc<Self>) {
        let DriverRef { driver, generation } = *self;
        if !self.is_open() || driver.alarm.note_ring() {
            return;
        }
        // Early: the clock went back, or the runtime is about to end. The driver task, if that
        // still runs, rearms; the interval is not touched here.
        let now = driver.alarm.now();
        match now < driver.alarm.earliest_ring() {
            true => driver.ask_for_turn(),
            false => driver.turn(generation, now),
        }
    }
}

impl Driver {
    /// Begins to serve a runtime, whose interval is to ring for this driver.
    pub(super) fn serve(&'static self, timer: AlarmTimer, capacity: usize) -> DriverRef {
        let serving = DriverRef::new(self, self.generation());
        let waker = Waker::from(Arc::new(serving));
        self.open(timer.ring(serving.generation, waker), capacity);
        serving
    }

    /// A poll of the driver task; ready when the driver is to end. The first poll was not asked for;
    /// where a clock was advanced, that poll might fire timers that tokio's clock has not come to yet.
    pub(super) fn poll_task(&self, generation: Generation, task: &Waker) -> Poll<()> {
        wakers::note_task(task);
        let is_first = lock(&self.task).replace(task.clone()).is_none();
        let now = self.alarm.now();
        match is_first && self.alarm.may_pause() {
            true => self.rearm(),
            false => self.turn(generation, now),
        }
        // Last: whoever wants the end stores that, and then wakes this task.
        match generation < self.ends.load(Ordering::Relaxed) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }

    /// Fires all timers that are due at `now`, and arms for what is left.
    pub(super) fn turn(&self, generation: Generation, now: Tick) {
        let batch = Vec::with_capacity(HOLD);
        let mut turn = Turn {
            generation,
            now,
            seen: now,
            batch,
        };
        let mut is_idle = true;
        for shard in self.each_shard() {
            while shard.next() <= now || shard.has_late_cancels() {
                let Some(progress) = shard.expire(&mut turn) else {
                    break;
                };
                is_idle &= turn.batch.is_empty();
                turn.batch.drain(..).for_each(wakers::wake);
                if progress.is_caught_up() {
                    break;
                }
                // A timer that fires late in a long turn is late by that, too.
                turn.seen = self.alarm.now();
            }
        }
        if let Some(counts) = self.last(generation) {
            counts.count_turn(is_idle);
        }
        self.rearm();
    }

    /// Wakes the driver task. Before its first poll there is no need.
    #[cold]
    pub(super) fn ask_for_turn(&self) {
        let task = lock(&self.task).clone();
        task.into_iter().for_each(wakers::wake);
    }
}
