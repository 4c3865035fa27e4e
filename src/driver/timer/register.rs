//! How a timer gets into a wheel: in the place of its shard's spare, or into its shard, or
//! into another one if that is busy.
//!
//! # Ground rules
//!
//! * An alarm that has to ring earlier is moved on this thread. (Waking the driver task to do
//!   that would be wrong: it lands in this worker's own queue, and if the worker then blocks,
//!   every timer waits.)
//! * First the entry, then the alarm: see "Never lost" in `alarm.rs`.
//! * Nobody waits for a shard while another one is free.

use std::task::{Poll, Waker};

use super::{Closed, Due, State, Timer};
use crate::driver::clock::Tick;
use crate::driver::shard::Refused;
use crate::driver::sync::relax;
use crate::driver::{current, waker_id};

impl Timer {
    /// Ready when it is due already.
    #[inline(always)]
    pub(super) fn register(
        &mut self,
        deadline: Tick,
        due: Due,
        waker: &Waker,
    ) -> Result<Poll<()>, Closed> {
        match self.come(deadline, due) {
            Some(when) => self.register_at(when, due, waker),
            None if self.has_ended() => Err(Closed),
            None => Ok(Poll::Ready(())),
        }
    }

    #[inline(always)]
    fn register_at(&mut self, when: Tick, due: Due, waker: &Waker) -> Result<Poll<()>, Closed> {
        if let Some(key) = self.reuse(when, waker) {
            return Ok(self.pending(key, when, waker));
        }
        match self.insert(when, waker.clone()) {
            Ok(key) => Ok(self.pending(key, when, waker)),
            Err(Refused::Closed) => Err(Closed),
            Err(_due) => self.register_overtaken(when, due, waker),
        }
    }

    /// The shard's clock has come to the deadline, though the alarm had not to be moved
    /// for it.
    #[cold]
    fn register_overtaken(
        &mut self,
        when: Tick,
        due: Due,
        waker: &Waker,
    ) -> Result<Poll<()>, Closed> {
        match self.come_early(when, due).filter(|&later| later > when) {
            Some(later) => self.register_at(later, Due::AtOnce, waker),
            None => Ok(Poll::Ready(())),
        }
    }

    /// Has the entry that is left in the shard's spare, if it has the same waker.
    #[inline(always)]
    fn reuse(&self, when: Tick, waker: &Waker) -> Option<u32> {
        let shard = &self.shard.shard;
        if current::has_spare(self.shard) && shard.spare.suits(waker) {
            shard.reuse(self.generation(), when)
        } else {
            None
        }
    }

    /// Puts an entry into the timer's shard, or another one if that is busy.
    #[inline(always)]
    fn insert(&mut self, when: Tick, waker: Waker) -> Result<u32, Refused> {
        let (shard, generation) = (&self.shard.shard, self.generation());
        match shard.register(generation, when, waker) {
            Err(Refused::Busy(waker)) => self.insert_elsewhere(when, waker),
            done => done,
        }
    }

    /// This timer only: the next one tries its own shard first again.
    #[cold]
    fn insert_elsewhere(&mut self, when: Tick, mut waker: Waker) -> Result<u32, Refused> {
        let (own, generation) = (self.shard, self.generation());
        let mut tries = 0;
        loop {
            for shard in own.others().chain([own]) {
                match shard.shard.register(generation, when, waker) {
                    Err(Refused::Busy(back)) => waker = back,
                    done => {
                        self.shard = shard;
                        return done;
                    }
                }
            }
            relax(tries);
            tries += 1;
        }
    }

    #[inline(always)]
    fn pending(&mut self, key: u32, when: Tick, waker: &Waker) -> Poll<()> {
        self.registered(key, when, waker);
        self.shard.driver.ring_by(when);
        Poll::Pending
    }

    #[inline(always)]
    pub(super) fn registered(&mut self, key: u32, when: Tick, waker: &Waker) {
        self.state = State::Registered {
            tenure: self.tenure(),
            key,
            when,
            waker: waker.data() as usize,
            vtable: waker_id::id(waker),
        };
    }
}
