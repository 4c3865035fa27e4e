//! What timers do with a shard: arm, cancel, change the waker, reset.
//!
//! [`Shard::arm`] and [`Shard::extend`] are on the fast path. They try the lock once, and if they
//! cannot succeed, they change nothing and return a refusal, and the caller takes the slow path.

use std::task::Waker;

use super::{EntryRef, Held, Shard};
use crate::clock::Tick;
use crate::platform;

/// What a reset has done.
pub(in crate::driver) enum Reset {
    /// The timer is pending until its new deadline.
    Moved,
    /// The new deadline has passed: the timer has fired, and its waker has to be woken.
    Fired(Option<Waker>),
    /// Nothing: the timer had fired already, or the driver has shut down.
    Refused,
}

impl Shard {
    /// Arms a timer and returns its key. Gives the waker back if the shard is busy or does not
    /// [`admit`](Self::admits) the timer. Call [`tidy`](Self::tidy) once the alarm is armed.
    #[inline(always)]
    pub(in crate::driver) fn arm(&self, when: Tick, waker: Waker) -> Result<u32, Waker> {
        let Some(mut state) = self.try_lock() else {
            return Err(waker);
        };
        if !self.admits(when) {
            return Err(waker);
        }
        let key = state.put(when, waker);
        self.lower_next(when);
        Ok(key)
    }

    /// Cancels a timer and returns its waker. Caches the entry if no entry is cached.
    #[must_use = "to be dropped outside the lock"]
    #[inline]
    pub(in crate::driver) fn cancel(&self, mut state: Held<'_>, entry: EntryRef) -> Option<Waker> {
        let waker = self.cache_or_remove(&mut state, entry);
        self.unlock(state);
        waker
    }

    /// Gives an armed timer another waker and returns the old one, or gives this one back if the
    /// shard does not [`admit`](Self::admits) the timer. Waits for the lock.
    pub(in crate::driver) fn replace_waker(
        &self,
        entry: EntryRef,
        waker: Waker,
    ) -> Result<Option<Waker>, Waker> {
        let mut state = platform::wait(&self.state);
        if !self.admits(entry.when) {
            return Err(waker);
        }
        let old = state.wheel.get_mut(entry.key).replace(waker);
        self.unlock(state);
        Ok(old)
    }

    /// Resets an armed timer to a later deadline and returns `true`. Returns `false` and changes
    /// nothing if the shard is busy or does not [`admit`](Self::admits) the timer, if the deadline is
    /// earlier, or if the entry is a survivor (see `paged_slab.rs`).
    #[inline(always)]
    pub(in crate::driver) fn extend(&self, entry: EntryRef, deadline: Tick) -> bool {
        let Some(mut state) = self.try_lock() else {
            return false;
        };
        if !self.admits(entry.when) {
            return false;
        }
        let is_extended = state.wheel.extend(entry.key, deadline.0);
        state.resets += u64::from(is_extended);
        is_extended
    }

    /// Resets an armed timer to any deadline, and fires it if the deadline is not after the shard's
    /// clock. Waits for the lock, because only its holder knows whether the timer has fired. If the
    /// timer has moved, call [`tidy`](Self::tidy) once the alarm is armed.
    pub(in crate::driver) fn reset(&self, entry: EntryRef, deadline: Tick) -> Reset {
        // Without the lock first, because the timer may have fired.
        if !self.admits(entry.when) {
            return Reset::Refused;
        }
        let mut state = platform::wait(&self.state);
        if !self.admits(entry.when) {
            return Reset::Refused;
        }
        state.resets += 1;
        let reset = if deadline <= self.clock() {
            state.lag.record(0);
            Reset::Fired(state.wheel.remove(entry.key))
        } else {
            state.wheel.reschedule_lazily(entry.key, deadline.0, |_| ());
            self.lower_next(deadline);
            Reset::Moved
        };
        // Freed here, because a program may do nothing but reset for a long time.
        let garbage = state.wheel.take_garbage();
        drop(state);
        drop(garbage);
        reset
    }
}
