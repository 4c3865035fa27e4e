//! One worker's share of the timers: a wheel of wakers behind a lock that
//! nobody but the driver waits for long.
//!
//! # Ground rules
//!
//! * `state`, and every *store* to `clock`, `next` and `generation`, happens
//!   under the lock. The three are atomics so that they can be *read* without it.
//! * **A time-ordered owner.** An entry whose deadline is later than `clock`
//!   belongs to its timer, one at or before it belongs to the driver. Both look
//!   at the same clock under the same lock, so a key is used only while its
//!   entry is certainly there, and a fired timer needs no second visit.
//!   (A timer that goes away once its entry is due leaves one spurious wake.)
//! * **No foreign code under the lock.** Wakers are cloned before it is taken,
//!   and handed out to be woken or dropped after it is released; the same goes
//!   for memory to be freed.
//! * **Bounded holds.** One hold touches at most `hold` entries while firing,
//!   collects at most [`LETTERS`] letters, takes out at most [`SPARES`] timers
//!   that were left, and moves at most one bunch for each.
//! * **Nobody waits for a mass expiry.** Registering on a busy shard is refused
//!   (the caller takes another shard); cancelling on one leaves a letter for
//!   whoever locks it next. The driver, and a reset, wait for one hold.
//! * **Generations.** A shard outlives the runtimes it serves, one after
//!   another. Every operation says for which generation it is meant and finds
//!   [`Closed`](Refused::Closed) once that one has ended.
//!
//! Races that remain, and where they are caught: a letter may be posted just
//! after the holder looked for mail. The poster tries the lock once more, and
//! failing that asks the driver for a turn, which visits every shard with mail.

use std::mem;
use std::task::Waker;

use super::clock::Tick;
use super::foreign;
use super::kept::Kept;
use super::mail::{LETTERS, Letter, Mailbox};
use super::spare::{SPARES, Spare};
use super::sync::{self, AtomicU32, AtomicU64, Lock, LockGuard, Ordering};
use super::tally::{Counted, Snapshot};
use crate::wheel::core::{Core, Garbage, Progress};

/// Slots per level. A timer that fires has moved once for each level above the lowest
/// that is used, and each move waits for memory. With 64 there would be one more; with
/// 512 a slot that cascades would hold more than a cache does until it fires.
const SLOTS: usize = 256;
/// Slots up to this level (256² ns = 65 µs wide) fire as a whole when all of
/// them is due: wakers within one such slot are woken in no particular order.
const GRAIN: usize = 2;

pub(super) type Wheel = Core<Waker, SLOTS, GRAIN>;

/// A shard of a driver. Aligned so that no two share a cache line, nor a pair
/// of lines that the processor fetches together.
#[repr(align(128))]
pub(crate) struct Shard {
    state: Lock<Counted>,
    /// Everything at or before this is the driver's.
    clock: AtomicU64,
    /// Nothing in the wheel is due before this. [`Tick::NEVER`] when it is empty.
    next: AtomicU64,
    /// Counts the drivers that this shard has served.
    generation: AtomicU32,
    mail: Mailbox,
    kept: Kept,
    spares: [Spare; SPARES],
}

/// Why a shard did not take a timer.
pub(crate) enum Refused {
    /// Somebody holds the lock. The waker is handed back.
    Busy(Waker),
    /// The deadline is not after the shard's clock.
    Due,
    /// The driver has ended.
    Closed,
}

/// What became of a change to a registered timer.
pub(crate) enum Changed {
    /// It was made. A waker that was replaced is handed out.
    Made(Option<Waker>),
    /// The timer had already fired; its entry is the driver's.
    Fired,
    /// The driver has ended.
    Closed,
}

/// Things taken from a shard, to be dropped when its lock is no longer held.
#[must_use = "to be dropped outside the lock"]
struct Leftovers {
    wakers: Vec<Waker>,
    #[expect(dead_code, reason = "held only to be dropped")]
    garbage: Option<Garbage<Waker>>,
}

impl Drop for Leftovers {
    fn drop(&mut self) {
        foreign::discard(self.wakers.drain(..));
    }
}

impl Shard {
    pub(crate) fn new() -> Self {
        Shard {
            state: Lock::new(Counted::starting_at(0)),
            clock: AtomicU64::new(0),
            next: AtomicU64::new(Tick::NEVER.0),
            generation: AtomicU32::new(0),
            mail: Mailbox::new(),
            kept: Kept::new(),
            spares: std::array::from_fn(|_| Spare::new()),
        }
    }

    /// The clock up to which entries belong to the driver. For a timer's own
    /// check, follow it by [`serves`](Self::serves): in that order, a clock of
    /// a later generation cannot be mistaken for one's own.
    #[inline]
    pub(crate) fn clock(&self) -> Tick {
        Tick(self.clock.load(Ordering::Acquire))
    }

    #[inline]
    pub(crate) fn next(&self) -> Tick {
        Tick(self.next.load(Ordering::SeqCst))
    }

    #[inline]
    pub(crate) fn generation(&self) -> u32 {
        self.generation.load(Ordering::Acquire)
    }

    #[inline]
    pub(crate) fn serves(&self, generation: u32) -> bool {
        self.generation() == generation
    }

    /// Whether a thread has left a timer here, which a turn takes out.
    pub(crate) fn has_left(&self) -> bool {
        self.spares.iter().any(|spare| !spare.is_empty())
    }

    pub(crate) fn has_mail(&self) -> bool {
        self.mail.has_any()
    }

    pub(super) fn spares(&self) -> &[Spare] {
        &self.spares
    }

    /// Registers a timer, unless the shard is busy, past the deadline or closed,
    /// and takes out the one that this thread has left, if any.
    #[inline(always)]
    pub(crate) fn register(
        &self,
        generation: u32,
        when: Tick,
        waker: Waker,
        spare: Option<&Spare>,
    ) -> Result<u32, Refused> {
        let Some(mut wheel) = self.state.try_lock() else {
            return Err(Refused::Busy(waker));
        };
        // A refused waker is dropped with the arguments: after the guard.
        if !self.serves(generation) {
            return Err(Refused::Closed);
        }
        if when.0 <= self.clock.load(Ordering::Relaxed) {
            return Err(Refused::Due);
        }
        let left = spare.and_then(|spare| self.clear(&mut wheel, spare));
        let key = wheel.insert(when.0, waker);
        self.announce(when);
        self.unlock(wheel);
        drop(left);
        Ok(key)
    }

    /// Registers a timer by moving the one that was left in `spare`, which has the
    /// same waker. `None` when that has gone, or the shard is busy: to be registered
    /// as any other then.
    #[inline(always)]
    pub(crate) fn reuse(&self, generation: u32, when: Tick, spare: &Spare) -> Option<u32> {
        let mut wheel = self.state.try_lock()?;
        let left = spare.take()?;
        let usable = left.generation == generation && self.is_owned(&left);
        if !usable || when.0 <= self.clock.load(Ordering::Relaxed) {
            let waker = self.take(&mut wheel, left);
            self.unlock(wheel);
            drop(waker);
            return None;
        }
        wheel.reused += 1;
        wheel.reschedule_lazily(left.key, when.0);
        self.announce(when);
        self.unlock(wheel);
        Some(left.key)
    }

    /// Cancels a timer. `false` when the shard was busy twice: the cancel is in
    /// the mail, and somebody has to be asked to collect it.
    #[inline]
    #[must_use]
    pub(crate) fn cancel(&self, generation: u32, key: u32, when: Tick) -> bool {
        let timer = Letter {
            key,
            when,
            generation,
        };
        let Some(mut wheel) = self.state.try_lock() else {
            return self.post(timer);
        };
        let waker = self.take(&mut wheel, timer);
        self.unlock(wheel);
        drop(waker);
        true
    }

    /// Gives a registered timer another waker.
    pub(crate) fn replace_waker(
        &self,
        generation: u32,
        key: u32,
        when: Tick,
        waker: Waker,
    ) -> Changed {
        let mut wheel = self.wait();
        if let Some(refusal) = self.refusal(generation, when) {
            drop(wheel);
            return refusal;
        }
        let old = mem::replace(wheel.get_mut(key), waker);
        self.unlock(wheel);
        Changed::Made(Some(old))
    }

    /// Moves a registered timer to another deadline. One that is not after the
    /// shard's clock takes it out and hands its waker back.
    pub(crate) fn reschedule(
        &self,
        generation: u32,
        key: u32,
        when: Tick,
        deadline: Tick,
    ) -> Changed {
        let mut wheel = self.wait();
        if let Some(refusal) = self.refusal(generation, when) {
            drop(wheel);
            return refusal;
        }
        let due = deadline.0 <= self.clock.load(Ordering::Relaxed);
        let waker = if due {
            wheel.fired_by_reset();
            Some(wheel.remove(key))
        } else {
            wheel.resets += 1;
            wheel.reschedule_lazily(key, deadline.0);
            self.announce(deadline);
            None
        };
        self.unlock(wheel);
        Changed::Made(waker)
    }

    /// Keeps the waker of a timer that is done; see `kept.rs`.
    pub(crate) fn keep(&self, generation: u32, waker: Waker) -> Option<u32> {
        self.kept.keep(waker, || self.serves(generation))
    }

    /// Hands out a waker that was kept, unless the driver has ended.
    pub(crate) fn release(&self, generation: u32, key: u32) -> Option<Waker> {
        self.kept.release(key, || self.serves(generation))
    }

    /// Takes a registered timer out, waiting for the lock if need be: it has been
    /// reset to a time that has passed.
    pub(crate) fn withdraw(&self, generation: u32, key: u32, when: Tick) -> Option<Waker> {
        let mut wheel = self.wait();
        let timer = Letter {
            key,
            when,
            generation,
        };
        let waker = self.take(&mut wheel, timer);
        if waker.is_some() {
            wheel.fired_by_reset();
        }
        self.unlock(wheel);
        waker
    }

    /// One bounded hold of a turn: collects mail, moves the clock to `now`, and
    /// puts the wakers of at most `hold` due timers into `batch`. They are as late
    /// as it is `seen` to be. `None` when the driver has ended.
    pub(crate) fn expire(
        &self,
        generation: u32,
        now: Tick,
        seen: Tick,
        hold: usize,
        batch: &mut Vec<Waker>,
    ) -> Option<Progress> {
        let mut wheel = self.wait();
        if !self.serves(generation) {
            return None;
        }
        // Before the clock moves: what is due then would be fired in vain.
        let left = self.clear_all(&mut wheel);
        if self.clock.load(Ordering::Relaxed) < now.0 {
            self.clock.store(now.0, Ordering::Release);
        }
        let Counted {
            wheel: due, lag, ..
        } = &mut *wheel;
        let progress = due.advance(now.0, hold, &mut |_, deadline, waker| {
            lag.record(seen.0.saturating_sub(deadline));
            batch.push(waker);
        });
        self.publish(match progress {
            Progress::CaughtUp => next_of(&wheel),
            Progress::Unfinished => now,
        });
        self.unlock(wheel);
        drop(left);
        Some(progress)
    }

    /// Publishes the earliest deadline anew, after a timer was taken out or put
    /// off. `true` if that changed it.
    pub(crate) fn refresh(&self) -> bool {
        let mut wheel = self.wait();
        let left = self.clear_all(&mut wheel);
        let leftovers = self.tidy(&mut wheel);
        let (before, after) = (self.next(), next_of(&wheel));
        self.publish(after);
        drop(wheel);
        drop((left, leftovers));
        before != after
    }

    /// Timers registered and not fired.
    pub(crate) fn pending(&self, generation: u32) -> usize {
        self.read(generation, |wheel| wheel.len()).unwrap_or(0)
    }

    /// What has been counted. `None` when the driver has ended.
    pub(crate) fn snapshot(&self, generation: u32) -> Option<Snapshot> {
        self.read(generation, Counted::snapshot)
    }

    /// Reads with all mail delivered and nothing left in a spare.
    fn read<R>(&self, generation: u32, read: impl FnOnce(&Counted) -> R) -> Option<R> {
        let mut wheel = self.wait();
        while self.has_mail() {
            self.unlock(wheel);
            wheel = self.wait();
        }
        let left = self.clear_all(&mut wheel);
        let seen = self.serves(generation).then(|| read(&wheel));
        drop(wheel);
        drop(left);
        seen
    }

    /// Begins to serve a new driver whose clock shows `now`.
    pub(crate) fn open(&self, now: Tick, capacity: usize) {
        let mut fresh = Counted::starting_at(now.0);
        fresh.reserve(capacity);
        let mut wheel = self.wait();
        let old = mem::replace(&mut *wheel, fresh);
        self.clock.store(now.0, Ordering::Release);
        self.publish(Tick::NEVER);
        drop(wheel);
        drop(old);
    }

    /// Ends the generation and hands out the wheel with all that is pending.
    /// Before anybody can find that it has ended, `last` is given what it counted.
    pub(crate) fn close(&self, last: impl FnOnce(&Counted)) -> impl Iterator<Item = Waker> {
        let mut wheel = self.wait();
        last(&wheel);
        // Before anything of the next generation: see `clock`.
        self.generation.fetch_add(1, Ordering::SeqCst);
        self.publish(Tick::NEVER);
        let old = mem::replace(&mut *wheel, Counted::starting_at(0));
        drop(wheel);
        self.mail.clear();
        self.kept.clear();
        old.wheel.into_values().map(|(_, waker)| waker)
    }

    /// Waits for the lock: for the driver, and for changes that cannot be left
    /// in the mail.
    fn wait(&self) -> LockGuard<'_, Counted> {
        sync::wait(&self.state)
    }

    /// Releases the lock. Whoever held it collects the mail first, and drops
    /// what it took, and memory no longer needed, afterwards.
    #[inline]
    fn unlock(&self, mut wheel: LockGuard<'_, Counted>) {
        if !self.mail.may_have_any() && !wheel.has_garbage() {
            return drop(wheel);
        }
        let leftovers = self.tidy(&mut wheel);
        drop(wheel);
        drop(leftovers);
    }

    #[cold]
    fn tidy(&self, wheel: &mut Wheel) -> Leftovers {
        let letters = self.mail.collect(LETTERS);
        let wakers = letters
            .into_iter()
            .filter_map(|letter| self.take(wheel, letter))
            .collect();
        Leftovers {
            wakers,
            garbage: wheel.take_garbage(),
        }
    }

    /// Posts a cancel, and tries once more to see it through.
    #[cold]
    fn post(&self, letter: Letter) -> bool {
        self.mail.post(letter);
        match self.state.try_lock() {
            Some(wheel) => {
                self.unlock(wheel);
                true
            }
            None => false,
        }
    }

    /// Takes out what was left in a spare.
    #[inline]
    fn clear(&self, wheel: &mut Wheel, spare: &Spare) -> Option<Waker> {
        spare.take().and_then(|left| self.take(wheel, left))
    }

    /// The same for all spares.
    fn clear_all(&self, wheel: &mut Wheel) -> [Option<Waker>; SPARES] {
        std::array::from_fn(|index| self.clear(wheel, &self.spares[index]))
    }

    /// Removes an entry if it is still its timer's.
    #[inline]
    fn take(&self, wheel: &mut Wheel, timer: Letter) -> Option<Waker> {
        self.is_owned(&timer).then(|| wheel.remove(timer.key))
    }

    #[inline]
    fn is_owned(&self, timer: &Letter) -> bool {
        self.refusal(timer.generation, timer.when).is_none()
    }

    /// Why an entry may not be touched any more. To be asked under the lock.
    #[inline]
    fn refusal(&self, generation: u32, when: Tick) -> Option<Changed> {
        if !self.serves(generation) {
            Some(Changed::Closed)
        } else if when.0 <= self.clock.load(Ordering::Relaxed) {
            Some(Changed::Fired)
        } else {
            None
        }
    }

    /// Makes sure that `next` is not later than `when`.
    #[inline]
    fn announce(&self, when: Tick) {
        if when.0 < self.next.load(Ordering::Relaxed) {
            self.publish(when);
        }
    }

    fn publish(&self, next: Tick) {
        self.next.store(next.0, Ordering::SeqCst);
    }
}

fn next_of(wheel: &Wheel) -> Tick {
    wheel.next_expiration().map_or(Tick::NEVER, Tick)
}

#[cfg(all(test, not(loom)))]
mod tests;
