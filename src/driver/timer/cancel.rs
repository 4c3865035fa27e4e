//! Resetting and cancelling.
//!
//! A cancel never waits for a shard. On the shard's own worker it leaves the entry as the spare, or
//! removes it. On another worker, and where the shard is busy, it goes into the shard's list of late
//! cancels. A reset waits where the shard is busy.

use std::task::Waker;

use super::{State, Timer};
use crate::clock::Tick;
use crate::driver::context;
use crate::driver::driver::ShardRef;
use crate::driver::wakers;

/// Resetting.
impl Timer {
    /// Moves the timer to another deadline, which need not be polled for: the waker is kept.
    pub(crate) fn reset(&mut self, deadline: Tick) {
        if !self.put_off(deadline) {
            self.reset_otherwise(deadline);
        }
    }

    /// The straight way: to a later deadline.
    #[inline(always)]
    fn put_off(&mut self, deadline: Tick) -> bool {
        let Some((entry, ..)) = self.entry() else {
            return false;
        };
        let shard = &self.home.shard;
        if deadline < shard.plain_from() || !shard.put_off(entry, deadline) {
            return false;
        }
        if let State::Registered { when, .. } = &mut self.state {
            *when = deadline;
        }
        true
    }

    #[inline(never)]
    fn reset_otherwise(&mut self, deadline: Tick) {
        let Some((entry, waker, vtable)) = self.entry() else {
            return self.reset_unregistered(deadline);
        };
        // Already due: `Tick::ZERO` fires immediately.
        let when = self.when(deadline).unwrap_or(Tick::ZERO);
        match self.home.shard.reschedule(entry, when) {
            Ok(None) => {
                self.set_registered(entry.key, when, waker, vtable);
                retract(self.home);
                self.have_alarm_ring(when);
            }
            Ok(Some(waker)) => {
                retract(self.home);
                self.finish(waker);
            }
            // No longer registered: fired, or the driver has ended.
            Err(_refused) => self.reset_unregistered(deadline),
        }
    }

    /// Registers without being polled. As with tokio, a timer that is reset elapses without a poll,
    /// and wakes the task of its last poll.
    #[cold]
    fn reset_unregistered(&mut self, deadline: Tick) {
        let kept = match &mut self.state {
            State::Tokios { sleep, .. } => return sleep.as_mut().reset(deadline.to_instant()),
            State::Done { waker, .. } => waker.take(),
            _ => None,
        };
        let waker = kept.unwrap_or_else(|| Waker::noop().clone());
        if self.register(deadline, &waker).is_err() {
            self.finish(waker);
        }
    }
}

/// Cancelling.
impl Timer {
    /// Unregisters the timer; the next poll registers it again.
    pub(crate) fn cancel(&mut self) {
        // The drop of the timer that was here unregisters that.
        *self = Timer::on((self.home, self.generation()));
    }

    #[inline(never)]
    pub(super) fn unregister(&mut self) {
        let Some((entry, waker, vtable)) = self.entry() else {
            return;
        };
        let home = self.home;
        self.set_idle();
        let state = context::is_here(home).then(|| home.shard.try_lock());
        let Some(Some(mut state)) = state else {
            home.shard.cancel_later(entry);
            return retract(home);
        };
        if vtable == wakers::OF_TASKS && home.shard.leave(&mut state, entry) {
            return context::set_left(waker);
        }
        let waker = home.shard.cancel(state, entry);
        retract(home);
        drop(waker);
    }
}

/// Where the clock may be paused, the alarm must not stay armed for a timer that is gone.
#[inline(always)]
pub(super) fn retract(home: ShardRef) {
    if home.shard.plain_from() == Tick::NEVER {
        home.driver.retract(&home.shard);
    }
}
