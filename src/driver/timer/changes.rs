//! Arming, resetting and cancelling a timer.

use std::sync::Arc;
use std::task::Waker;
use std::{iter, mem};

use super::{Placed, State, Timer};
use crate::clock::Tick;
use crate::driver::context;
use crate::driver::lifecycle::Home;
use crate::driver::shard::Reset;
use crate::driver::wakers::{self, WakerId};
use crate::platform::{TRIES, back_off};

impl Placed {
    /// Moves a timer that is not armed to this thread's home, if that has the same driver.
    #[inline(always)]
    pub(super) fn move_to_own_home(&mut self) {
        if context::is_own_home(&self.home) {
            return;
        }
        if let Some(home) = context::own_home_like(&self.home) {
            self.home = home;
        }
    }

    /// Arms the timer for the tick at which it fires (see `near.rs`). Gives the waker back if the timer
    /// is due, or if the driver has shut down.
    pub(super) fn arm(&mut self, deadline: Tick, mut waker: Waker) -> Result<(), Waker> {
        let mut tried = Tick::ZERO;
        // If a tick was refused, the clock of a shard has reached it, and the timer is due unless
        // `when` now returns a later tick, as it may for a near deadline.
        while let Some(when) = self.when(deadline).filter(|&when| when > tried) {
            let armed = self.arm_at_home(when, waker);
            waker = match armed.or_else(|waker| self.arm_anywhere(when, waker)) {
                Ok(()) => return Ok(()),
                Err(refused) => refused,
            };
            tried = when;
        }
        Err(waker)
    }

    /// Arms the timer in its own shard. Gives the waker back if the shard is busy or refuses.
    #[inline(always)]
    pub(super) fn arm_at_home(&mut self, when: Tick, waker: Waker) -> Result<(), Waker> {
        let id = WakerId::of(&waker);
        let home = &*self.home;
        let key = home.shard.arm(when, waker)?;
        let armed = State::Armed {
            key,
            when,
            waker: id,
        };
        self.state.overwrite(armed);
        home.ensure_alarm(when);
        home.shard.tidy();
        Ok(())
    }

    /// Arms the timer in its own shard or, if that stays busy, in the first free one, which becomes
    /// its own until the timer is armed again on a bound worker. Waits only while all shards are
    /// busy. Gives the waker back if the shard refuses.
    #[cold]
    fn arm_anywhere(&mut self, when: Tick, mut waker: Waker) -> Result<(), Waker> {
        let Some(driver) = self.home.driver.upgrade() else {
            return Err(waker);
        };
        context::forget_usual();
        let (homes, own) = (&driver.homes, self.home.index);
        let others = homes[own + 1..].iter().chain(&homes[..own]);
        let mut tries = 0;
        loop {
            for home in iter::repeat_n(&homes[own], TRIES).chain(others.clone()) {
                self.home = Arc::clone(home);
                waker = match self.arm_at_home(when, waker) {
                    Ok(()) => return Ok(()),
                    Err(waker) if !self.home.shard.admits(when) => return Err(waker),
                    Err(waker) => waker,
                };
                std::hint::spin_loop();
            }
            back_off(tries);
            tries += TRIES as u32;
        }
    }

    /// Returns when a timer with this deadline fires, or `None` if it is due already or the driver
    /// has shut down.
    fn when(&self, deadline: Tick) -> Option<Tick> {
        let Home { shard, alarm, .. } = &*self.home;
        if deadline >= shard.fast_path_from() {
            Some(deadline)
        } else if shard.is_closed() {
            None
        } else {
            alarm.when_near(deadline)
        }
    }
}

impl Timer {
    /// Resets the timer to another deadline, without a poll. The waker stays the same.
    pub(crate) fn reset(&mut self, deadline: Tick) {
        // The fast path: a timer that is armed gets a later deadline.
        if let Timer::Placed(Placed { home, state }) = self {
            if let Some(entry) = state.entry() {
                let is_fast = deadline >= home.shard.fast_path_from();
                if is_fast && home.shard.extend(entry, deadline) {
                    return state.set_when(deadline);
                }
            }
        }
        self.reset_slow(deadline);
    }

    #[inline(never)]
    fn reset_slow(&mut self, deadline: Tick) {
        self.place();
        match self {
            Timer::Placed(placed) => placed.reset(deadline),
            Timer::HandedOver { sleep: Some(sleep) } => {
                sleep.as_mut().reset(deadline.to_instant());
            }
            _ => {}
        }
    }

    /// Cancels the timer; the next poll arms it again.
    pub(crate) fn cancel(&mut self) {
        match self {
            Timer::Unplaced { .. } => {}
            Timer::Placed(placed) => {
                placed.disarm();
                placed.state = State::Idle;
            }
            Timer::HandedOver { sleep } => *sleep = None,
        }
    }
}

impl Placed {
    /// Resets to any deadline, whether the timer is armed or not.
    fn reset(&mut self, deadline: Tick) {
        let Some(entry) = self.state.entry() else {
            return self.reset_unarmed(deadline);
        };
        // If the deadline has passed, use `Tick::ZERO`, which fires immediately.
        let when = self.when(deadline).unwrap_or(Tick::ZERO);
        match self.home.shard.reset(entry, when) {
            Reset::Moved => {
                self.state.set_when(when);
                self.home.ensure_alarm(when);
                self.home.rearm_after_cancel_if_paused();
                self.home.shard.tidy();
            }
            Reset::Fired(waker) => {
                self.state = State::Done { waker: None };
                self.home.rearm_after_cancel_if_paused();
                wakers::wake_all(waker);
            }
            Reset::Refused => self.reset_unarmed(deadline),
        }
    }

    /// Arms a timer without a poll, which is not armed or has fired. As with Tokio, a timer that is reset
    /// elapses without a poll, and wakes the task whose waker was kept. (If it fired and was not polled
    /// since, there is no such waker, but firing has woken the task already.)
    #[cold]
    fn reset_unarmed(&mut self, deadline: Tick) {
        let kept = match mem::replace(&mut self.state, State::Idle) {
            State::Done { waker } => waker,
            _ => None,
        };
        self.move_to_own_home();
        let waker = kept.unwrap_or_else(|| Waker::noop().clone());
        if let Err(waker) = self.arm(deadline, waker) {
            self.state = State::Done { waker: None };
            wakers::wake_all(Some(waker));
        }
    }

    /// Cancels an armed timer and leaves it idle.
    #[inline(never)]
    pub(super) fn disarm(&mut self) {
        let Some(entry) = self.state.entry() else {
            return;
        };
        self.state.overwrite(State::Idle);
        let home = &*self.home;
        let held = context::is_own_home(home).then(|| home.shard.try_lock());
        let waker = match held.flatten() {
            Some(held) => home.shard.cancel(held, entry),
            None => {
                home.shard.cancel_later(entry);
                None
            }
        };
        home.rearm_after_cancel_if_paused();
        drop(waker);
    }
}
