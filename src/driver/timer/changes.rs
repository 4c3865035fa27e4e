//! Registering, resetting and cancelling a timer.
//!
//! # Ground rules
//!
//! * **Arming tries the timer's own shard for a moment, and then takes any shard that is free**, so
//!   no thread waits behind a mass expiry. The timer then belongs to the other shard, even when it
//!   is armed again. Spinning alone is not enough. If the pass runs on the same processor as this
//!   thread, the pass is preempted again and again while it holds the lock: arming beside a million
//!   timers then took up to 12 ms, instead of 0.07 ms.
//! * **A cancel does not wait for the shard, unless the clock may be paused.** If this thread made
//!   its last timer in the shard, the cancel caches the entry, or removes it. On any other thread,
//!   and while the shard is busy, it is queued in the shard's list of late cancels. If the clock
//!   may be paused, retracting the alarm then applies the queued cancels, and waits for the lock.
//! * **A reset waits while the shard is busy**, because only the thread that holds the lock knows
//!   whether the timer has fired.

use std::iter;
use std::task::Waker;

use super::{State, Timer};
use crate::clock::Tick;
use crate::driver::context;
use crate::driver::shard::{Refused, Shard};
use crate::driver::wakers::{self, WakerId};
use crate::sync::{TRIES, back_off};

/// Registering.
impl Timer {
    /// Registers the timer for the tick at which it fires (see `when.rs`). Refuses it as due if
    /// that tick has come.
    pub(super) fn register(&mut self, deadline: Tick, waker: &Waker) -> Result<(), Refused> {
        match self.when(deadline) {
            Some(when) => self.register_at(when, waker),
            // Due, unless the driver has shut down.
            None => self.shard.check(self.generation(), Tick::ZERO),
        }
    }

    /// Registers in a shard. Gives the waker back if the shard is busy or refuses.
    #[inline(always)]
    pub(super) fn arm(
        &mut self,
        shard: &'static Shard,
        when: Tick,
        waker: Waker,
    ) -> Result<(), Waker> {
        let id = WakerId::of(&waker);
        let key = shard.arm(self.generation(), when, waker)?;
        self.shard = shard;
        self.set_registered(key, when, id);
        self.ensure_alarm(when);
        Ok(())
    }

    /// Registers in any shard. If the own shard's clock passed `when` before a lock was taken,
    /// registers for tokio's present millisecond if that has not ended, and refuses the timer as
    /// due otherwise.
    #[cold]
    pub(super) fn register_at(&mut self, when: Tick, waker: &Waker) -> Result<(), Refused> {
        let registered = self.register_anywhere(when, waker);
        if !matches!(registered, Err(Refused::Due)) {
            return registered;
        }
        match self.when_near(when) {
            Some(later) if later > when => self.register_at(later, waker),
            _ => registered,
        }
    }

    /// Registers in the timer's own shard or, if that stays busy, in the first free one. Waits only
    /// while all shards are busy.
    fn register_anywhere(&mut self, when: Tick, waker: &Waker) -> Result<(), Refused> {
        let (own, generation) = (self.shard, self.generation());
        let shards = own.driver.shards();
        let others = shards[own.index + 1..].iter().chain(&shards[..own.index]);
        let (mut waker, mut tries) = (waker.clone(), 0);
        loop {
            for shard in iter::repeat_n(own, TRIES).chain(others.clone()) {
                waker = match self.arm(shard, when, waker) {
                    Ok(()) => return Ok(()),
                    Err(refused) => refused,
                };
                own.check(generation, when)?;
                std::hint::spin_loop();
            }
            back_off(tries);
            tries += TRIES as u32;
        }
    }

    /// Moves the alarm if this deadline is earlier. Call this after the entry has its deadline: see
    /// "Never lose a timer" in `alarm/mod.rs`. Of many timers that are due together, only the first
    /// takes the alarm's mutex, because the others find `armed_for` early enough.
    #[inline(always)]
    fn ensure_alarm(&self, when: Tick) {
        if when < self.shard.fast_path_from() && when < self.shard.driver.alarm.armed_for() {
            self.shard.driver.rearm();
        }
    }

    /// Returns when a timer with this deadline fires, or `None` if it is due already.
    fn when(&self, deadline: Tick) -> Option<Tick> {
        if deadline >= self.shard.fast_path_from() {
            return Some(deadline);
        }
        self.when_near(deadline)
    }

    /// Returns when a timer with this near deadline fires, or `None` if it is due already.
    fn when_near(&self, deadline: Tick) -> Option<Tick> {
        self.shard.driver.when_near(deadline, self.shard.clock())
    }
}

/// Resetting.
impl Timer {
    /// Resets the timer to another deadline, without a poll. The waker stays the same.
    pub(crate) fn reset(&mut self, deadline: Tick) {
        if !self.extend(deadline) {
            self.reset_slow(deadline);
        }
    }

    /// Resets to a later deadline. This is the fast path. Returns `false` if it does not apply.
    #[inline(always)]
    fn extend(&mut self, deadline: Tick) -> bool {
        let Some((entry, ..)) = self.entry() else {
            return false;
        };
        if deadline < self.shard.fast_path_from() || !self.shard.extend(entry, deadline) {
            return false;
        }
        if let State::Registered { when, .. } = &mut self.state {
            *when = deadline;
        }
        true
    }

    /// Resets to any deadline, whether the timer is registered or not.
    #[inline(never)]
    fn reset_slow(&mut self, deadline: Tick) {
        let Some((entry, waker)) = self.entry() else {
            return self.reset_unregistered(deadline);
        };
        // If the deadline has passed, use `Tick::ZERO`, which fires immediately.
        let when = self.when(deadline).unwrap_or(Tick::ZERO);
        match self.shard.reset(entry, when) {
            Ok(None) => {
                self.set_registered(entry.key, when, waker);
                retract(self.shard);
                self.ensure_alarm(when);
            }
            Ok(Some(waker)) => {
                retract(self.shard);
                self.finish(waker);
            }
            // The timer is no longer registered, because it has fired or the driver has shut down.
            Err(_refused) => self.reset_unregistered(deadline),
        }
    }

    /// Registers without being polled. As with tokio, a timer that is reset elapses without a poll,
    /// and wakes the task whose waker was kept. (If it fired and was not polled since, there is no
    /// such waker, but firing has woken the task already.)
    #[cold]
    fn reset_unregistered(&mut self, deadline: Tick) {
        let kept = match &mut self.state {
            State::Tokios { sleep, .. } => return sleep.as_mut().reset(deadline.to_instant()),
            State::Done { waker, .. } => waker.take(),
            _ => None,
        };
        let waker = kept.unwrap_or_else(|| Waker::noop().clone());
        let registered = self.register(deadline, &waker);
        if matches!(registered, Err(Refused::Closed)) && self.driver_was_shut_down() {
            // It has not elapsed: the next poll hands over to a timer of tokio's own.
            self.set_idle();
            wakers::wake_all([waker]);
        } else if registered.is_err() {
            self.finish(waker);
        }
    }
}

/// Cancelling.
impl Timer {
    /// Unregisters the timer; the next poll registers it again.
    pub(crate) fn cancel(&mut self) {
        // The assignment drops the old timer, which unregisters it.
        *self = Timer::on((self.shard, self.generation()));
    }

    /// Cancels a registered timer and leaves it idle.
    #[inline(never)]
    pub(super) fn unregister(&mut self) {
        let Some((entry, ..)) = self.entry() else {
            return;
        };
        self.set_idle();
        let shard = self.shard;
        let state = context::is_here(shard).then(|| shard.try_lock());
        let waker = match state.flatten() {
            Some(state) => shard.cancel(state, entry),
            None => {
                shard.cancel_later(entry);
                None
            }
        };
        retract(shard);
        drop(waker);
    }
}

/// Retracts the alarm if the clock may be paused, because it must not stay armed for a timer that
/// is gone. There is no fast path then. (There is none with a configured tick either, or after the
/// driver's end: `Driver::retract` does nothing then.)
#[inline(always)]
fn retract(shard: &'static Shard) {
    if shard.fast_path_from() == Tick::NEVER {
        shard.driver.retract(shard);
    }
}
