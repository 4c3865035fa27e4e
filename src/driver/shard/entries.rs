//! What a timer does with its entry in a shard: it registers, moves and cancels it.
//!
//! The ground rules are in `shard.rs`: who owns an entry, and what runs under the lock.

use std::mem;
use std::task::Waker;

use super::{Refused, Shard, ShardState};
use crate::driver::cancel_queue::EntryRef;
use crate::driver::clock::Tick;
use crate::driver::sync::LockGuard;

impl Shard {
    /// Registers a timer, unless the shard is busy, past the deadline or closed.
    #[inline(always)]
    pub(in crate::driver) fn register(
        &self,
        generation: u32,
        when: Tick,
        waker: Waker,
    ) -> Result<u32, Refused> {
        let Some(mut state) = self.try_for_a_while() else {
            return Err(Refused::Busy(waker));
        };
        // A refused waker is dropped with the arguments: after the guard.
        if !self.serves(generation) {
            return Err(Refused::Closed);
        }
        if self.has_come(when) {
            return Err(Refused::Due);
        }
        let left = self.clear_spare(&mut state);
        let key = state.wheel.insert(when.0, waker);
        self.announce(when);
        self.unlock(state);
        drop(left);
        Ok(key)
    }

    /// Registers a timer by moving what is left in the spare, which has the same waker.
    /// `None` when that has gone, or the shard is busy: to be registered as any other then.
    #[inline(always)]
    pub(in crate::driver) fn reuse(&self, generation: u32, when: Tick) -> Option<u32> {
        let mut state = self.try_for_a_while()?;
        let left = self.spare.take()?;
        let is_own = left.generation == generation && self.check(&left).is_ok();
        if !is_own || self.has_come(when) {
            let waker = self.take(&mut state, left);
            self.unlock(state);
            drop(waker);
            return None;
        }
        state.reused += 1;
        state.wheel.reschedule_lazily(left.key, when.0);
        self.announce(when);
        self.unlock(state);
        Some(left.key)
    }

    /// Cancels a timer if nobody holds the shard for long; else it goes into the queue.
    #[inline]
    pub(in crate::driver) fn cancel(&self, entry: EntryRef) {
        match self.try_for_a_while() {
            Some(state) => self.cancel_in(state, entry),
            None => self.cancel_later(entry),
        }
    }

    #[inline]
    fn cancel_in(&self, mut state: LockGuard<'_, ShardState>, entry: EntryRef) {
        let waker = self.take(&mut state, entry);
        self.unlock(state);
        drop(waker);
    }

    /// Queues a cancel. Nothing else of the shard is touched, unless the queue is full.
    pub(in crate::driver) fn cancel_later(&self, entry: EntryRef) {
        self.cancels.push(entry);
        while self.cancels.is_full() {
            self.unlock(self.wait());
        }
    }

    /// Takes a registered timer out at once.
    pub(in crate::driver) fn cancel_now(&self, entry: EntryRef) {
        self.cancel_in(self.wait(), entry);
    }

    /// Gives a registered timer another waker, for the one that it had.
    pub(in crate::driver) fn replace_waker(
        &self,
        entry: EntryRef,
        waker: Waker,
    ) -> Result<Waker, Refused> {
        let mut state = self.wait();
        // A refused waker is dropped with the arguments: after the guard.
        self.check(&entry)?;
        let old = mem::replace(state.wheel.get_mut(entry.key), waker);
        self.unlock(state);
        Ok(old)
    }

    /// Moves a registered timer to another deadline. One that is not after the
    /// shard's clock takes it out and hands its waker back.
    pub(in crate::driver) fn reschedule(
        &self,
        entry: EntryRef,
        deadline: Tick,
    ) -> Result<Option<Waker>, Refused> {
        let mut state = self.wait();
        self.check(&entry)?;
        if self.has_come(deadline) {
            let waker = state.fire_by_reset(entry.key);
            self.unlock(state);
            return Ok(Some(waker));
        }
        state.resets += 1;
        state.wheel.reschedule_lazily(entry.key, deadline.0);
        self.announce(deadline);
        self.unlock(state);
        Ok(None)
    }
}
