//! What timers do with a shard: arm, cancel, change the waker, reset.
//!
//! The ground rules are at the head of `shard.rs`.
//!
//! # The fast path of a reset
//!
//! [`Shard::extend`] is one try of the lock and a few stores, without a call. If it cannot succeed
//! with these, it changes nothing, and the caller takes the slow path. Merging it into the slow
//! path was tried: a reset to a later deadline then takes 135 instructions instead of 86.

use std::task::Waker;

use super::{EntryRef, Held, Refused, Shard};
use crate::clock::Tick;
use crate::settings::Generation;
use crate::sync;

impl Shard {
    /// Arms a timer and returns its key. Gives the waker back if the shard is busy, or if the
    /// timer's [`check`](Self::check) fails.
    #[inline(always)]
    pub(in crate::driver) fn arm(
        &self,
        generation: Generation,
        when: Tick,
        waker: Waker,
    ) -> Result<u32, Waker> {
        let Some(mut state) = self.try_lock() else {
            return Err(waker);
        };
        if self.check(generation, when).is_err() {
            return Err(waker);
        }
        let armed = state.put(when, waker);
        self.lower_next(when);
        // An insert leaves no garbage, so this does not look for any. Moving the cached entry to an
        // earlier deadline may leave some, which the next `unlock` takes out.
        if self.has_late_cancels() {
            self.unlock_and_tidy(state);
        }
        Ok(armed)
    }

    /// Cancels a timer and returns its waker. Caches the entry, if no entry is cached.
    #[must_use = "to be dropped outside the lock"]
    #[inline]
    pub(in crate::driver) fn cancel(&self, mut state: Held<'_>, entry: EntryRef) -> Option<Waker> {
        let waker = match self.check(entry.generation, entry.when) {
            Ok(()) => state.take(entry.key),
            Err(_refused) => None,
        };
        self.unlock(state);
        waker
    }

    /// Gives a registered timer another waker and returns the old one. Waits for the lock.
    pub(in crate::driver) fn replace_waker(
        &self,
        entry: EntryRef,
        waker: Waker,
    ) -> Result<Option<Waker>, Refused> {
        let mut state = sync::wait(&self.state);
        if let Err(refused) = self.check(entry.generation, entry.when) {
            // Release the lock before the waker is dropped.
            drop(state);
            return Err(refused);
        }
        let old = state.wheel.get_mut(entry.key).replace(waker);
        self.unlock(state);
        Ok(old)
    }

    /// Resets a registered timer to a later deadline and returns `true`. Returns `false` and
    /// changes nothing if the shard is busy, if the timer's [`check`](Self::check) fails, if the
    /// deadline is earlier, or if the entry has survived its page (see `Core::extend_if`).
    #[inline(always)]
    pub(in crate::driver) fn extend(&self, entry: EntryRef, deadline: Tick) -> bool {
        let Some(mut state) = self.try_lock() else {
            return false;
        };
        if self.check(entry.generation, entry.when).is_err() {
            return false;
        }
        let is_extended = state.wheel.extend_if(entry.key, deadline.0, |_| true);
        state.resets += u64::from(is_extended);
        is_extended
    }

    /// Resets a registered timer to any deadline. Waits for the lock. If the deadline is not after
    /// the shard's clock, takes the timer out and returns its waker, which the caller wakes.
    pub(in crate::driver) fn reset(
        &self,
        entry: EntryRef,
        deadline: Tick,
    ) -> Result<Option<Waker>, Refused> {
        // Check without the lock first, because most timers that are reset here have fired.
        self.check(entry.generation, entry.when)?;
        let mut state = sync::wait(&self.state);
        self.check(entry.generation, entry.when)?;
        state.resets += 1;
        let fired = if deadline <= self.clock() {
            state.lag.record(0);
            state.wheel.remove(entry.key)
        } else {
            state.wheel.reschedule_lazily(entry.key, deadline.0);
            self.lower_next(deadline);
            None
        };
        self.unlock(state);
        Ok(fired)
    }
}
