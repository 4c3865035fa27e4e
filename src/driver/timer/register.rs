//! How a timer gets into a wheel: in the place of the one that its thread has left,
//! or into the thread's shard, or into another one if that is busy.
//!
//! # Ground rules
//!
//! * Registering does not read the clock, except when the deadline is earlier
//!   than what the alarm is armed for. Then it is compared with now: due at
//!   once, or the alarm is moved, on this thread. (Waking the driver task to do
//!   that would be wrong: it lands in this worker's own queue, where nobody can
//!   steal it, and if the worker then blocks, every timer waits.)
//! * Nobody waits for a shard while another one is free. When all are busy their
//!   holders have a small constant of work to do.

use std::task::{Poll, Waker};

use super::Timer;
use crate::driver::clock::Tick;
use crate::driver::shard::Refused;
use crate::driver::sync::relax;
use crate::driver::{Home, local, spare};

/// The driver has ended.
pub(super) struct ShutDown;

impl Timer {
    /// Registers in the place of the timer that this thread has left, if there is one
    /// with the same waker, and the alarm need not be moved.
    #[inline]
    pub(super) fn reuse(&mut self, deadline: Tick, waker: &Waker) -> bool {
        let Home { shard, driver, .. } = self.home;
        let spare = spare::mine(shard).filter(|spare| spare.suits(waker));
        let Some(spare) = spare.filter(|_| deadline >= driver.planned()) else {
            return false;
        };
        let Some(key) = shard.reuse(self.generation(), deadline, spare) else {
            return false;
        };
        self.remember(waker);
        self.registered(key, deadline);
        true
    }

    /// Ready when it is due already, or the driver has ended.
    #[inline(always)]
    pub(super) fn register(&mut self, deadline: Tick, waker: Waker) -> Poll<Option<ShutDown>> {
        if deadline < self.home.driver.planned() {
            return self.register_early(deadline, waker);
        }
        self.register_at(deadline, waker)
    }

    /// With a deadline that is earlier than what the alarm is armed for.
    #[cold]
    fn register_early(&mut self, deadline: Tick, waker: Waker) -> Poll<Option<ShutDown>> {
        let now = self.home.driver.now_at_home();
        if now.is_some_and(|now| deadline <= now) {
            return Poll::Ready(self.has_ended().then_some(ShutDown));
        }
        self.register_at(deadline, waker)
    }

    #[inline(always)]
    fn register_at(&mut self, deadline: Tick, waker: Waker) -> Poll<Option<ShutDown>> {
        self.remember(&waker);
        match self.insert(deadline, waker) {
            Ok(key) => {
                self.registered(key, deadline);
                Poll::Pending
            }
            Err(Refused::Closed) => Poll::Ready(Some(ShutDown)),
            Err(Refused::Due | Refused::Busy(_)) => Poll::Ready(None),
        }
    }

    #[inline(always)]
    fn registered(&mut self, key: u32, deadline: Tick) {
        self.key = key;
        self.when = deadline;
        self.see_to_alarm(deadline);
    }

    /// Puts an entry into the thread's shard, or another one if that is busy.
    #[inline(always)]
    fn insert(&mut self, deadline: Tick, waker: Waker) -> Result<u32, Refused> {
        let shard = &self.home.shard;
        match shard.register(self.generation(), deadline, waker, spare::mine(shard)) {
            Err(Refused::Busy(waker)) => self.insert_elsewhere(deadline, waker),
            done => done,
        }
    }

    #[cold]
    fn insert_elsewhere(&mut self, deadline: Tick, mut waker: Waker) -> Result<u32, Refused> {
        let generation = self.generation();
        let mut tries = 0;
        loop {
            for home in self.home.and_others() {
                match home.shard.register(generation, deadline, waker, None) {
                    Err(Refused::Busy(back)) => waker = back,
                    done => {
                        self.home = home;
                        local::move_to(home, generation);
                        return done;
                    }
                }
            }
            relax(tries);
            tries += 1;
        }
    }

    /// A deadline earlier than the plan moves the alarm.
    #[inline]
    pub(super) fn see_to_alarm(&self, deadline: Tick) {
        if deadline < self.home.driver.planned() {
            self.home.driver.rearm();
        }
    }
}
