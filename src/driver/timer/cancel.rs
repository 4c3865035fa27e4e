//! Resetting and cancelling.
//!
//! A cancel never waits for a shard. On the shard's own worker it leaves the entry as the spare, or
//! removes it. On another worker, and where the shard is busy, the cancel goes into the shard's
//! queue, and the next thread that locks the shard removes the entry and drops the waker. A reset
//! uses that queue where the shard is busy.

use std::task::Waker;

use super::{State, Timer};
use crate::clock::Tick;
use crate::driver::change_queue::{CANCELLED, Refused};
use crate::driver::context;
use crate::driver::driver::ShardRef;
use crate::driver::shard::Held;
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
                // A change that waits may be this timer's. Until the next poll its waker then passes
                // for no task's: no straight way leaves the entry to another timer before that change.
                let waits = self.home.shard.has_changes();
                let vtable = if waits { wakers::NONE } else { vtable };
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
            State::Fallback { sleep, .. } => return sleep.as_mut().reset(deadline.to_instant()),
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
        let home = self.home;
        let state = context::is_here(home).then(|| home.shard.try_lock());
        let Some(Some(mut state)) = state else {
            let _ = self.cancel_later();
            return;
        };
        match self.entry() {
            Some((entry, waker, wakers::OF_TASKS)) if home.shard.leave(&mut state, entry) => {
                context::set_left(waker);
                self.set_idle();
            }
            _ => self.cancel_in(state),
        }
    }

    /// On another worker, and where the shard is busy. Refused where the timer has fired, or the driver
    /// has ended; the timer is idle all the same.
    #[inline(never)]
    pub(super) fn cancel_later(&mut self) -> Result<(), Refused> {
        let (entry, ..) = self.entry().ok_or(Refused::Closed)?;
        self.set_idle();
        self.home.shard.change_later(entry, CANCELLED)?;
        retract(self.home);
        Ok(())
    }

    #[inline(never)]
    fn cancel_in(&mut self, state: Held<'_>) {
        let home = self.home;
        let Some(state) = home.shard.drained(state) else {
            let _ = self.cancel_later();
            return;
        };
        let Some((entry, ..)) = self.entry() else {
            return;
        };
        self.set_idle();
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
