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
//! * A poll of the driver task is a turn if somebody has asked for one, or if
//!   something is due. It may be a look, too; see `watch.rs`.

use std::future::{Future, poll_fn};
use std::task::{Poll, Waker};
use std::time::Duration;

use super::Driver;
use super::clock::Tick;
use super::foreign;
use super::registry::Lease;
use super::shard::Shard;
use super::sync::{Ordering, lock, wake_later};
use super::watch::{self, Lookout, Next, Way};
use crate::wheel::core::Progress;

/// Timers, give or take one hold, that a turn inside tokio's turn fires.
const IN_TOKIOS_TURN: usize = if cfg!(all(test, loom)) { 1 } else { 1024 };
/// The same for one poll of the driver task.
const IN_TASK_POLL: usize = if cfg!(all(test, loom)) { 1 } else { 256 };
/// After so many timers a turn looks at the clock again, to tell how late the
/// next ones are.
const LOOK_AGAIN: usize = 256;
/// When tokio's turn resumes what it left to the driver task, if need be.
const BACKSTOP: Duration = Duration::from_millis(1);

impl Driver {
    /// Fires what is due at `now`, or about `limit` timers; `true` if all.
    ///
    /// A waker may keep a turn so long that its runtime ends meanwhile, and
    /// another one takes the driver over: the rest of the turn is then void.
    fn turn(&self, generation: u32, now: Tick, limit: usize) -> bool {
        let mut turn = Turn {
            generation,
            now,
            seen: now,
            unseen: 0,
            hold: self.settings.hold(),
            left: limit,
            is_idle: true,
            batch: Vec::with_capacity(16),
        };
        self.turns.fetch_add(1, Ordering::Relaxed);
        let done = self.visit(&mut turn);
        if turn.is_idle {
            self.idle_turns.fetch_add(1, Ordering::Relaxed);
        }
        done
    }

    fn visit(&self, turn: &mut Turn) -> bool {
        let shards = self.shards();
        let first = self.first.load(Ordering::Relaxed);
        for index in (first..shards.len()).chain(0..first) {
            if !turn.fire(&shards[index].shard) {
                // The others come first next time, however much is due in this one.
                let next = (index + 1) % shards.len();
                self.first.store(next, Ordering::Relaxed);
                return false;
            }
        }
        true
    }

    /// A turn on the thread that drives time, inside tokio's own.
    pub(super) fn turn_in_tokios_turn(&self, generation: u32, now: Tick) -> bool {
        let limit = if self.settings.fires_all() {
            usize::MAX
        } else {
            IN_TOKIOS_TURN
        };
        let done = self.turn(generation, now, limit);
        if !done {
            self.arm_backstop();
            self.ask_for_turn();
        }
        done
    }

    /// One poll of the driver task: it was asked for a turn, or keeps watch, or both.
    pub(super) fn poll_task(&'static self, generation: u32, lookout: &mut Lookout, task: &Waker) {
        let asked = self.listen(task);
        let polled = Tick::now();
        if asked || (self.planned() <= polled && lookout.may_turn(polled)) {
            if !self.turn(generation, polled, IN_TASK_POLL) {
                return self.ask_for_turn();
            }
            self.rearm();
        }
        if self.watch.is_kept() {
            lookout.pass(self.watch.take_pass());
            match lookout.look(polled, Tick::now(), self.planned()) {
                Next::Look(Way::EventLoop) => wake_later(&watch::past(self, generation)),
                Next::Look(_) => task.wake_by_ref(),
                Next::Rest(from) => self.watch.end(from),
            }
        }
    }

    /// Wakes the driver task, and asks for no turn.
    pub(super) fn wake_to_watch(&self) {
        let task = lock(&self.task).clone();
        if let Some(task) = task {
            task.wake();
        }
    }

    fn arm_backstop(&self) {
        self.plan.rearm(|| {
            self.arm_with(|alarm| {
                // Of another runtime by now: the ring is for its own re-armer.
                let Some(now) = alarm.now() else { return false };
                self.plan.take_ring();
                let at = now.saturating_add(BACKSTOP);
                alarm.set(at, at, Some(now))
            });
        });
    }
}

/// A turn that is under way.
struct Turn {
    generation: u32,
    /// What is due by then is fired.
    now: Tick,
    /// When the clock was last looked at, and the timers fired since.
    seen: Tick,
    unseen: usize,
    hold: usize,
    /// Timers that may still be fired, give or take one hold.
    left: usize,
    /// Nothing was due so far.
    is_idle: bool,
    batch: Vec<Waker>,
}

impl Turn {
    /// `false` when the limit was reached before all that is due had been fired,
    /// and all mail collected.
    fn fire(&mut self, shard: &Shard) -> bool {
        while shard.next() <= self.now || shard.has_mail() || shard.has_left() {
            let Some(progress) = self.expire(shard) else {
                return true;
            };
            if progress.is_caught_up() && !shard.has_mail() {
                return true;
            }
            self.left = self.left.saturating_sub(self.hold);
            if self.left == 0 {
                return false;
            }
        }
        true
    }

    /// One hold of a shard's lock; `None` when the driver has ended.
    fn expire(&mut self, shard: &Shard) -> Option<Progress> {
        if self.unseen >= LOOK_AGAIN {
            (self.seen, self.unseen) = (Tick::now(), 0);
        }
        let (seen, batch) = (self.seen, &mut self.batch);
        let progress = shard.expire(self.generation, self.now, seen, self.hold, batch)?;
        self.is_idle &= batch.is_empty();
        self.unseen += batch.len();
        batch.drain(..).for_each(foreign::wake);
        Some(progress)
    }
}

/// The driver task: does what tokio's turn left over, and re-arms.
pub(super) fn task(lease: Lease) -> impl Future<Output = ()> + Send {
    let mut lookout = Lookout::default();
    poll_fn(move |cx| {
        let driver = lease.driver();
        driver.poll_task(lease.generation(), &mut lookout, cx.waker());
        Poll::Pending
    })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::registry;
    use super::super::sync::lock;
    use super::*;

    #[tokio::test]
    async fn a_turn_of_a_runtime_that_has_ended_takes_no_ring_from_the_next_one() {
        let driver = registry::of(&tokio::runtime::Handle::current()).driver;
        tokio::task::yield_now().await;
        let mut sleep = crate::sleep(Duration::from_millis(20));
        assert!(futures::poll!(&mut sleep).is_pending());
        // The alarm has gone off, and nobody has looked yet.
        if let Some(alarm) = lock(&driver.alarm).as_mut() {
            let armed = alarm.armed;
            alarm.disarm();
            alarm.armed = armed;
        }
        // A turn that has lasted since the driver served another runtime.
        std::thread::scope(|scope| scope.spawn(|| driver.arm_backstop()).join().unwrap());
        driver.rearm();
        let woken = tokio::time::timeout(Duration::from_secs(5), sleep).await;
        assert!(woken.is_ok());
    }
}
