//! One worker's share of the timers: a wheel of wakers behind a lock.
//!
//! # Ground rules
//!
//! * `state`, and every *store* to `clock`, `next` and `generation`, happens under the
//!   lock. The three are atomics so that they can be *read* without it.
//! * **A time-ordered owner.** An entry whose deadline is later than `clock` belongs to
//!   its timer, one at or before it belongs to the driver. Both look at the same clock
//!   under the same lock, so a key is used only while its entry is certainly there, and a
//!   fired timer needs no second visit. (A timer that goes away once its entry is due
//!   leaves one spurious wake.)
//! * **No foreign code under the lock.** Wakers are cloned before it is taken, and handed
//!   out to be woken or dropped after it is released; the same goes for memory to be freed.
//! * **Bounded holds.** One hold touches at most `hold` entries while firing, collects at
//!   most [`COLLECTED`] cancels, takes out one timer that was left in the spare, and moves
//!   at most one chunk for each.
//! * **Nobody waits for a mass expiry.** Whoever registers tries for a few instructions,
//!   then takes another shard for that timer; a cancel goes into the queue. The driver, and
//!   who resets a timer, wait for one hold.
//! * **Generations.** A shard outlives the runtimes it serves, one after another. Every
//!   operation says for which generation it is meant and finds [`Closed`](Refused::Closed)
//!   once that one has ended.
//!
//! One race remains: a cancel may be queued just after the holder looked. It waits for the
//! next holder then. Its entry is still in the wheel, so a turn comes at its deadline.

use std::mem;
use std::task::Waker;

use super::cancel_queue::{COLLECTED, CancelQueue, EntryRef, Spare};
use super::clock::Tick;
use super::sync::{self, AtomicBool, AtomicU32, AtomicU64, Lock, LockGuard, Ordering};
use crate::stats::{LagHistogram, Snapshot};
use crate::wheel::core::{Core, Garbage, Progress};

/// Slots per level. A timer that fires has moved once for each level above the lowest
/// that is used, and each move waits for memory. With 64 there would be one more; with
/// 512 a slot that cascades would hold more than a cache does until it fires.
const SLOTS: usize = 256;
/// Slots up to this level (256² ns = 65 µs wide) fire as a whole when all of
/// them is due: wakers within one such slot are woken in no particular order.
const GRAIN: usize = 2;
/// How often a lock is tried before the caller does something else: a few times as long
/// as a hold usually lasts.
const SPINS: usize = if cfg!(all(test, loom)) { 1 } else { 40 };

type Wheel = Core<Waker, SLOTS, GRAIN>;

/// A shard of a driver. What its own thread writes all the time, what others read, and
/// what others write are on different lines of memory, and on different pairs of lines,
/// which a processor may fetch together.
pub(crate) struct Shard {
    state: Lock<ShardState>,
    published: Published,
    cancels: CancelQueue,
}

/// What is read without the lock.
#[repr(align(128))]
struct Published {
    /// Everything at or before this is the driver's.
    clock: AtomicU64,
    /// Nothing in the wheel is due before this. [`Tick::NEVER`] when it is empty.
    next: AtomicU64,
    /// Counts the drivers that this shard has served.
    generation: AtomicU32,
    /// Some thread's spare is attached.
    taken: AtomicBool,
}

/// What the lock protects. In this order, so that a reset counts in the line of memory
/// that its lock has just been written in.
#[repr(C, align(128))]
struct ShardState {
    /// Pending timers that were given another deadline.
    resets: u64,
    /// Timers registered in the place of one that had been cancelled.
    reused: u64,
    /// That of the thread whose shard this is.
    spare: Option<&'static Spare>,
    wheel: Wheel,
    /// Of all that fired.
    lag: LagHistogram,
}

/// Why a shard did not do as it was asked.
pub(super) enum Refused {
    /// Somebody holds the lock. The waker is handed back.
    Busy(Waker),
    /// The deadline is not after the shard's clock: the entry is, or would be, the driver's.
    Due,
    /// The driver has ended.
    Closed,
}

/// Taken from a shard, to be dropped when its lock is no longer held: wakers of tokio's
/// tasks, and memory.
type Leftovers = ([Option<Waker>; COLLECTED], Option<Garbage<Waker>>);

impl ShardState {
    /// An empty wheel at this time; nothing has been counted.
    const fn starting_at(now: u64) -> Self {
        ShardState {
            resets: 0,
            reused: 0,
            spare: None,
            wheel: Wheel::starting_at(now),
            lag: LagHistogram::new(),
        }
    }

    /// A pending timer was reset to a time that has passed. Nobody is late.
    fn fire_by_reset(&mut self, key: u32) -> Waker {
        self.resets += 1;
        self.lag.record(0);
        self.wheel.remove(key)
    }

    fn next(&self) -> Tick {
        self.wheel.next_expiration().map_or(Tick::NEVER, Tick)
    }

    fn snapshot(&self) -> Snapshot {
        let fired = self.lag.count();
        Snapshot {
            registered: self.wheel.inserted() + self.reused,
            fired,
            cancelled: self.wheel.removed() - fired + self.reused,
            pending: self.wheel.len(),
            reset: self.resets,
            cascaded: self.wheel.cascaded(),
            lag: self.lag.clone(),
            driver_wakeups: 0,
            driver_noops: 0,
            slab_capacity: self.wheel.capacity(),
        }
    }
}

/// What is known without the lock.
impl Shard {
    pub(super) fn new() -> Self {
        Shard {
            state: Lock::new(ShardState::starting_at(0)),
            published: Published {
                clock: AtomicU64::new(0),
                next: AtomicU64::new(Tick::NEVER.0),
                generation: AtomicU32::new(0),
                taken: AtomicBool::new(false),
            },
            cancels: CancelQueue::new(),
        }
    }

    /// The clock up to which entries belong to the driver. For a timer's own
    /// check, follow it by [`serves`](Self::serves): in that order, a clock of
    /// a later generation cannot be mistaken for one's own.
    #[inline]
    pub(crate) fn clock(&self) -> Tick {
        Tick(self.published.clock.load(Ordering::Acquire))
    }

    #[inline]
    pub(crate) fn next(&self) -> Tick {
        Tick(self.published.next.load(Ordering::SeqCst))
    }

    #[inline]
    pub(crate) fn generation(&self) -> u32 {
        self.published.generation.load(Ordering::Acquire)
    }

    #[inline]
    pub(crate) fn serves(&self, generation: u32) -> bool {
        self.generation() == generation
    }

    /// Whether a thread's spare is attached, as far as can be said without the lock.
    pub(super) fn is_taken(&self) -> bool {
        self.published.taken.load(Ordering::Relaxed)
    }

    /// Whether cancels wait here.
    pub(super) fn has_cancels(&self) -> bool {
        !self.cancels.is_empty()
    }

    /// Makes sure that `next` is not later than `when`.
    #[inline]
    fn announce(&self, when: Tick) {
        if when.0 < self.published.next.load(Ordering::Relaxed) {
            self.publish(when);
        }
    }

    fn publish(&self, next: Tick) {
        self.published.next.store(next.0, Ordering::SeqCst);
    }
}

/// What a timer does with its entry.
impl Shard {
    /// Registers a timer, unless the shard is busy, past the deadline or closed,
    /// and takes out the one that this thread has left, if any.
    #[inline(always)]
    pub(super) fn register(
        &self,
        generation: u32,
        when: Tick,
        waker: Waker,
        spare: Option<&Spare>,
    ) -> Result<u32, Refused> {
        let Some(mut state) = self.try_for_a_while() else {
            return Err(Refused::Busy(waker));
        };
        // A refused waker is dropped with the arguments: after the guard.
        if !self.serves(generation) {
            return Err(Refused::Closed);
        }
        if when.0 <= self.published.clock.load(Ordering::Relaxed) {
            return Err(Refused::Due);
        }
        let left = spare.and_then(|spare| self.clear(&mut state, spare));
        let key = state.wheel.insert(when.0, waker);
        self.announce(when);
        self.unlock(state);
        drop(left);
        Ok(key)
    }

    /// Registers a timer by moving the one that was left in `spare`, which has the
    /// same waker. `None` when that has gone, or the shard is busy: to be registered
    /// as any other then.
    #[inline(always)]
    pub(super) fn reuse(&self, when: Tick, spare: &Spare) -> Option<u32> {
        let mut state = self.try_for_a_while()?;
        let left = spare.take()?;
        if self.check(&left).is_err() || when.0 <= self.published.clock.load(Ordering::Relaxed) {
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
    pub(super) fn cancel(&self, entry: EntryRef) {
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
    pub(super) fn cancel_later(&self, entry: EntryRef) {
        self.cancels.push(entry);
        while self.cancels.is_full() {
            self.unlock(self.wait());
        }
    }

    /// Takes a registered timer out at once.
    pub(super) fn cancel_now(&self, entry: EntryRef) {
        self.cancel_in(self.wait(), entry);
    }

    /// Gives a registered timer another waker.
    pub(super) fn replace_waker(&self, entry: EntryRef, waker: Waker) -> Result<(), Refused> {
        let mut state = self.wait();
        // A refused waker is dropped with the arguments: after the guard.
        self.check(&entry)?;
        let old = mem::replace(state.wheel.get_mut(entry.key), waker);
        self.unlock(state);
        drop(old);
        Ok(())
    }

    /// Moves a registered timer to another deadline. One that is not after the
    /// shard's clock takes it out and hands its waker back.
    pub(super) fn reschedule(
        &self,
        entry: EntryRef,
        deadline: Tick,
    ) -> Result<Option<Waker>, Refused> {
        let mut state = self.wait();
        self.check(&entry)?;
        if deadline.0 <= self.published.clock.load(Ordering::Relaxed) {
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

    /// Makes a thread's spare that of this shard, unless it has one already.
    pub(super) fn attach(&self, generation: u32, spare: &'static Spare) -> bool {
        let mut state = self.wait();
        let free = state.spare.is_none() && self.serves(generation);
        if free {
            state.spare = Some(spare);
            self.published.taken.store(true, Ordering::Relaxed);
        }
        self.unlock(state);
        free
    }

    /// Hands a spare back to its thread, empty.
    pub(super) fn detach(&self, spare: &'static Spare) {
        let mut state = self.wait();
        let is_its = |attached: &mut &Spare| std::ptr::eq::<Spare>(*attached, spare);
        state.spare.take_if(is_its);
        self.published
            .taken
            .store(state.spare.is_some(), Ordering::Relaxed);
        let waker = self.clear(&mut state, spare);
        self.unlock(state);
        drop(waker);
    }
}

/// What the driver does.
impl Shard {
    /// One bounded hold of a turn: collects cancels, moves the clock to `now`, and
    /// puts the wakers of at most `hold` due timers into `batch`. They are as late
    /// as it is `seen` to be. `None` when the driver has ended.
    pub(super) fn expire(
        &self,
        generation: u32,
        now: Tick,
        seen: Tick,
        hold: usize,
        batch: &mut Vec<Waker>,
    ) -> Option<Progress> {
        let mut state = self.wait();
        if !self.serves(generation) {
            return None;
        }
        // Before the clock moves: what is due then would be fired in vain.
        let left = self.clear_spare(&mut state);
        let leftovers = self.has_cancels().then(|| self.tidy(&mut state));
        let progress = if self.has_cancels() {
            Progress::Unfinished
        } else {
            self.fire(&mut state, now, seen, hold, batch)
        };
        self.unlock(state);
        drop((left, leftovers));
        Some(progress)
    }

    fn fire(
        &self,
        state: &mut ShardState,
        now: Tick,
        seen: Tick,
        hold: usize,
        batch: &mut Vec<Waker>,
    ) -> Progress {
        if self.published.clock.load(Ordering::Relaxed) < now.0 {
            self.published.clock.store(now.0, Ordering::Release);
        }
        let ShardState { wheel, lag, .. } = &mut *state;
        let progress = wheel.advance(now.0, hold, &mut |_, deadline, waker| {
            lag.record(seen.0.saturating_sub(deadline));
            batch.push(waker);
        });
        self.publish(match progress {
            Progress::CaughtUp => state.next(),
            Progress::Unfinished => now,
        });
        progress
    }

    /// Publishes the earliest deadline anew, after a timer was taken out or put
    /// off. `true` if that changed it.
    pub(super) fn refresh(&self) -> bool {
        let mut state = self.wait();
        let left = self.clear_spare(&mut state);
        let leftovers = self.tidy(&mut state);
        let (before, after) = (self.next(), state.next());
        self.publish(after);
        drop(state);
        drop((left, leftovers));
        before != after
    }

    /// Timers registered and not fired.
    pub(crate) fn pending(&self, generation: u32) -> usize {
        let pending = self.read(generation, |state| state.wheel.len());
        pending.unwrap_or(0)
    }

    /// What has been counted. `None` when the driver has ended.
    pub(crate) fn snapshot(&self, generation: u32) -> Option<Snapshot> {
        self.read(generation, ShardState::snapshot)
    }

    /// Reads with all cancels carried out.
    fn read<R>(&self, generation: u32, read: impl FnOnce(&ShardState) -> R) -> Option<R> {
        let mut state = self.wait();
        while self.has_cancels() {
            self.unlock(state);
            state = self.wait();
        }
        let left = self.clear_spare(&mut state);
        let seen = self.serves(generation).then(|| read(&state));
        drop(state);
        drop(left);
        seen
    }

    /// Begins to serve a new driver whose clock shows `now`.
    pub(super) fn open(&self, now: Tick, capacity: usize) {
        let mut fresh = ShardState::starting_at(now.0);
        fresh.wheel.reserve(capacity);
        let mut state = self.wait();
        let old = mem::replace(&mut *state, fresh);
        self.published.clock.store(now.0, Ordering::Release);
        self.publish(Tick::NEVER);
        drop(state);
        drop(old);
    }

    /// Ends the generation and hands out the wakers of all that is pending.
    /// Before anybody can find that it has ended, `last` is given what it counted.
    pub(super) fn close(&self, last: impl FnOnce(Snapshot)) -> impl Iterator<Item = Waker> {
        let mut state = self.wait();
        last(state.snapshot());
        // Before anything of the next generation: see `clock`.
        self.published.generation.fetch_add(1, Ordering::SeqCst);
        self.publish(Tick::NEVER);
        // The spare is its thread's again, which finds that the driver has ended.
        let old = mem::replace(&mut *state, ShardState::starting_at(0));
        self.published.taken.store(false, Ordering::Relaxed);
        drop(state);
        self.cancels.clear();
        old.wheel.into_values().map(|(_, waker)| waker)
    }
}

/// Taking the lock, and what is done before it is released.
impl Shard {
    /// Waits for the lock: for the driver, and for changes that cannot be queued.
    fn wait(&self) -> LockGuard<'_, ShardState> {
        sync::wait(&self.state)
    }

    #[inline]
    fn try_for_a_while(&self) -> Option<LockGuard<'_, ShardState>> {
        match self.state.try_lock() {
            Some(state) => Some(state),
            None => self.try_again(),
        }
    }

    #[cold]
    fn try_again(&self) -> Option<LockGuard<'_, ShardState>> {
        (1..SPINS).find_map(|_| {
            std::hint::spin_loop();
            self.state.try_lock()
        })
    }

    /// Releases the lock. Whoever held it collects cancels first, and drops
    /// what it took, and memory no longer needed, afterwards.
    #[inline]
    fn unlock(&self, mut state: LockGuard<'_, ShardState>) {
        if !self.has_cancels() && !state.wheel.has_garbage() {
            return drop(state);
        }
        let leftovers = self.tidy(&mut state);
        drop(state);
        drop(leftovers);
    }

    #[cold]
    #[must_use = "to be dropped outside the lock"]
    fn tidy(&self, state: &mut ShardState) -> Leftovers {
        let mut wakers = [const { None }; COLLECTED];
        let cancels = self.cancels.collect().into_iter().flatten();
        for (waker, entry) in wakers.iter_mut().zip(cancels) {
            *waker = self.take(state, entry);
        }
        (wakers, state.wheel.take_garbage())
    }

    /// Takes out what was left in the spare of the shard's own thread.
    fn clear_spare(&self, state: &mut ShardState) -> Option<Waker> {
        state.spare.and_then(|spare| self.clear(state, spare))
    }

    #[inline]
    fn clear(&self, state: &mut ShardState, spare: &Spare) -> Option<Waker> {
        spare.take().and_then(|left| self.take(state, left))
    }

    /// Removes an entry if it is still its timer's.
    #[inline]
    fn take(&self, state: &mut ShardState, entry: EntryRef) -> Option<Waker> {
        let owned = self.check(&entry).is_ok();
        owned.then(|| state.wheel.remove(entry.key))
    }

    /// Whether an entry is still its timer's. To be asked under the lock.
    #[inline]
    fn check(&self, entry: &EntryRef) -> Result<(), Refused> {
        if !self.serves(entry.generation) {
            Err(Refused::Closed)
        } else if entry.when.0 <= self.published.clock.load(Ordering::Relaxed) {
            Err(Refused::Due)
        } else {
            Ok(())
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
