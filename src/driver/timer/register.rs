//! Registering: the timer's entry comes into its shard's wheel.

use std::task::Waker;

use super::Timer;
use crate::driver::clock::Tick;
use crate::driver::context;
use crate::driver::driver::DriverShard;
use crate::driver::shard::{Refused, ShardState};
use crate::driver::sync::LockGuard;
use crate::driver::wakers;

/// A shard whose lock this thread has.
type Held = LockGuard<'static, ShardState>;

impl Timer {
    /// The straight way: in the place of the timer that this task has cancelled last.
    #[inline(always)]
    pub(super) fn register_again(&mut self, deadline: Tick, waker: &Waker) -> bool {
        if !context::has_left(waker) {
            return false;
        }
        let shard = &self.home.shard;
        let Some(key) = shard.arm_again(self.generation(), deadline, waker) else {
            return false;
        };
        let data = waker.data() as usize;
        self.set_registered(key, deadline, data, wakers::OF_TASKS);
        true
    }

    /// Refused as due when the deadline has passed.
    pub(super) fn register(&mut self, deadline: Tick, waker: &Waker) -> Result<(), Refused> {
        match self.when(deadline) {
            Some(when) => self.register_at(when, waker),
            // Due, unless the driver has ended.
            None => self.home.shard.check(self.generation(), Tick::ZERO),
        }
    }

    #[inline(always)]
    pub(super) fn register_at(&mut self, when: Tick, waker: &Waker) -> Result<(), Refused> {
        let cloned = waker.clone();
        let is_armed = match self.home.shard.try_lock() {
            Some(state) => self.arm(state, when, cloned),
            None => self.arm_when_free(when, cloned),
        };
        match is_armed {
            true => Ok(()),
            false => self.register_refused(when, waker),
        }
    }

    /// Returns false if the shard refuses.
    #[inline(always)]
    fn arm(&mut self, state: Held, when: Tick, waker: Waker) -> bool {
        let (data, vtable) = (waker.data() as usize, wakers::address(&waker));
        let shard = &self.home.shard;
        let Some((key, left)) = shard.arm(state, self.generation(), when, waker) else {
            return false;
        };
        self.set_registered(key, when, data, wakers::id(vtable));
        self.have_alarm_ring(when);
        wakers::discard(left);
        true
    }

    /// Another thread holds the shard: this thread spins until the release.
    #[cold]
    fn arm_when_free(&mut self, when: Tick, waker: Waker) -> bool {
        self.arm(self.home.shard.wait(), when, waker)
    }

    /// The driver has ended, or the shard's clock passed `when` before the lock was taken: in that
    /// case the timer may wait for tokio's millisecond.
    #[cold]
    fn register_refused(&mut self, when: Tick, waker: &Waker) -> Result<(), Refused> {
        let refused = self.home.shard.check(self.generation(), when);
        if !matches!(refused, Err(Refused::Due)) {
            return refused;
        }
        match self.when_near(when) {
            Some(later) if later > when => self.register_at(later, waker),
            _ => refused,
        }
    }

    /// After the entry has its deadline: see "Never lost" in `alarm/mod.rs`.
    #[inline(always)]
    pub(super) fn have_alarm_ring(&self, when: Tick) {
        let DriverShard { shard, driver, .. } = self.home;
        if when < shard.plain_from() {
            driver.arm_for(when);
        }
    }

    /// When a timer with this deadline fires; `None` if due already.
    pub(super) fn when(&self, deadline: Tick) -> Option<Tick> {
        match deadline >= self.home.shard.plain_from() {
            true => Some(deadline),
            false => self.when_near(deadline),
        }
    }

    fn when_near(&self, deadline: Tick) -> Option<Tick> {
        let DriverShard { shard, driver, .. } = self.home;
        driver.when_near(deadline, shard.clock())
    }
}
