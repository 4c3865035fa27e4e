//! Registering: in the timer's shard, or in another if that is busy.
//!
//! Arming tries the timer's own shard for a moment, then takes any shard that is free: no thread
//! waits behind a mass expiry. The timer then belongs to the other shard, also when armed again.
//! (Spinning is not enough. Where the turn and this thread share a processor, the turn is stopped while
//! it holds the shard, again and again: arming then took up to 12 ms beside a million timers, not 0.07.)

use std::iter;
use std::task::Waker;

use super::Timer;
use crate::clock::Tick;
use crate::driver::context;
use crate::driver::driver::ShardRef;
use crate::driver::shard::Refused;
use crate::driver::wakers;
use crate::sync::{TRIES, back_off};

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
        self.set_registered(key, deadline, waker.data() as usize, wakers::OF_TASKS);
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

    /// Registers in a shard, unless that is busy or refuses.
    #[inline(always)]
    pub(super) fn arm(&mut self, home: ShardRef, when: Tick, waker: Waker) -> bool {
        let (data, vtable) = (waker.data() as usize, wakers::address(&waker));
        let Some((key, left)) = home.shard.arm(self.generation(), when, waker) else {
            return false;
        };
        self.home = home;
        self.set_registered(key, when, data, wakers::id(vtable));
        self.have_alarm_ring(when);
        wakers::discard(left);
        true
    }

    /// Registers in any shard. Refused as due when the shard's clock passed `when` before the lock was
    /// taken: then the timer may wait for tokio's millisecond.
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

    fn register_anywhere(&mut self, when: Tick, waker: &Waker) -> Result<(), Refused> {
        let (own, generation) = (self.home, self.generation());
        let mut tries = 0;
        loop {
            for home in iter::repeat_n(own, TRIES).chain(own.others()) {
                if self.arm(home, when, waker.clone()) {
                    return Ok(());
                }
                own.shard.check(generation, when)?;
                std::hint::spin_loop();
            }
            back_off(tries);
            tries += TRIES as u32;
        }
    }

    /// After the entry has its deadline: see "Never lost" in `alarm/mod.rs`.
    #[inline(always)]
    pub(super) fn have_alarm_ring(&self, when: Tick) {
        if when < self.home.shard.plain_from() {
            self.home.driver.arm_for(when);
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
        let home = self.home;
        home.driver.when_near(deadline, home.shard.clock())
    }
}
