//! Turns: due timers fire, and the alarm is armed for the next.
//!
//! A turn begins in one of two places:
//!
//! 1. The alarm rings, inside tokio's own turn: [`Driver::alarm_rings`]. On a multi-thread runtime
//!    the turn ends after about a thousand timers, because tokio looks at I/O only after it.
//! 2. The driver task is polled: [`Driver::poll_task`]. A thread has asked for that turn: a ring left
//!    timers over, the alarm has passed while it was set, or an [overdue check](super::overdue) found
//!    a late timer in a busy runtime.
//!
//! # Ground rules
//!
//! * Each turn ends by arming the alarm, whether it is done or not. The driver task may wait in the
//!   queue of a worker that blocks, so what is left over may not depend on that task alone: the next
//!   ring finds the request still open.
//! * A turn of the driver task may take twice as long as the task has waited for it, and a ring's turn
//!   ten times as long. So where other tasks keep the workers busy, timers get their share of the
//!   time. What a turn takes itself is no wait, so no turn grows by the one before.
//! * Between two turns of the driver task tokio looks at I/O and at its own timers, where that is
//!   cheap: see [`poll_again`].

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use super::alarm::interval::AlarmTimer;
use super::driver::{Driver, DriverRef};
use super::fire::Turn;
use crate::clock::Tick;
use crate::settings::Generation;
use crate::sync::Ordering;

/// A driver in service is the waker of its own alarm.
impl Wake for DriverRef {
    fn wake(self: Arc<Self>) {
        if self.is_open() {
            self.driver.alarm_rings(self.generation);
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

    /// The alarm goes off: inside of tokio's turn, or on a thread that is arming.
    pub(super) fn alarm_rings(&self, generation: Generation) {
        if self.alarm.note_ring() {
            return;
        }
        // Early: the clock went back, or the runtime is about to end. The driver task, if that
        // still runs, rearms; the interval is not touched here.
        let now = self.alarm.now();
        if now < self.alarm.earliest_ring() {
            return self.ask_for_turn();
        }
        // The driver task may wait in the queue of a worker that blocks. This turn makes up for it, and for
        // the rings to come: so it takes up to ten times as long as the request has waited.
        let takes = match self.settings.current_thread {
            true => u64::MAX,
            false => 10 * self.turns.waits(),
        };
        let is_done = self.turn(generation, now, takes);
        if !self.settings.current_thread {
            self.turns.end_turn(is_done, None);
        }
        if !(self.arm() && is_done) {
            self.ask_for_turn();
        }
    }

    /// A poll of the driver task. The first poll was not asked for; where a clock was advanced,
    /// that poll might fire timers that tokio's clock has not come to yet.
    pub(super) fn poll_task(&self, generation: Generation, is_first: bool, task: &Waker) {
        let (waited, _last) = self.turns.take_request();
        let (began, now) = (Tick::really_now(), self.alarm.now());
        let skips_turn = is_first && self.alarm.may_pause();
        let is_done = skips_turn || self.turn(generation, now, 2 * waited) & self.arm();
        if self.turns.end_turn(is_done, Some(task)) {
            let took = Tick::really_now().0.saturating_sub(began.0);
            poll_again(waited, took, task);
        }
    }

    /// Fires the timers that are due at `now`; `true` if all. If not, about a thousand, and more if
    /// those take less than `takes` nanoseconds.
    pub(super) fn turn(&self, generation: Generation, now: Tick, takes: u64) -> bool {
        self.alarm.raise_plain_from(self.each_shard(), now);
        self.checked.store(now.0, Ordering::Relaxed);
        let mut turn = Turn::new(generation, now, takes);
        let is_done = self.fire(&mut turn);
        if let Some(counts) = self.last(generation) {
            counts.count_turn(turn.is_idle);
        }
        is_done
    }

    fn fire(&self, turn: &mut Turn) -> bool {
        let shards = self.shards();
        let first = self.turns.first.load(Ordering::Relaxed);
        for index in (first..shards.len()).chain(0..first) {
            if !turn.visit(&shards[index].shard, || self.alarm.now()) {
                // The next turn begins with the next shard, however many timers are due in this
                // shard.
                let next = (index + 1) % shards.len();
                self.turns.first.store(next, Ordering::Relaxed);
                return false;
            }
        }
        true
    }
}

/// Has the driver task polled again, after a turn that `took` so many nanoseconds.
///
/// *Short queue*: the task waited for less than a fourth of that. The task yields, so that tokio polls
/// I/O and its own timers first. *Long queue*: the task goes to the end of the queue. tokio polls I/O
/// every 61 tasks, and by yielding a mass expiry would take 61 tasks per turn.
fn poll_again(waited: u64, took: u64, task: &Waker) {
    if waited >= took / 4 {
        return task.wake_by_ref();
    }
    let yields = pin!(tokio::task::yield_now());
    let _pending = yields.poll(&mut Context::from_waker(task));
}
