//! A worker's share of the timers: a wheel of wakers behind a lock.
//!
//! # Ground rules
//!
//! * `state`, and every *store* to `clock`, `next` and `generation`, happens under the lock. The
//!   three are atomics so that they can be *read* without the lock. The exception is a queued reset to
//!   an earlier deadline: it makes `next` earlier under the queue's lock alone. So `next` becomes later
//!   only under both locks, and while no change waits.
//! * **A time-ordered owner.** An entry whose deadline is later than `clock` belongs to its timer,
//!   an entry whose deadline is at or before `clock` belongs to the driver. Both compare with the
//!   same clock under the same lock. So a key is used only while its entry is certainly there, and
//!   a timer that has fired needs no second visit. (A timer that goes away once its entry is due
//!   leaves a spurious wake.)
//! * **No foreign code under the lock.** Wakers are cloned before the lock is taken, and woken or
//!   dropped after its release; memory is freed after the release, too.
//! * **Bounded holds.** A hold makes at most [`HOLD`](crate::settings::HOLD) queued changes, fires at most as many entries,
//!   and moves at most four keys for each. The keys of a slot are copied when their list grows, four
//!   bytes each.
//! * **No worker waits for the lock.** The holder may have lost its processor to this very thread. So
//!   each operation tries for a moment, and then goes another way. Arming takes another shard for that
//!   timer. A cancel and a reset go into the queue. A poll with another waker cancels the timer and
//!   arms it anew. Only a reset to a time that has passed, and a change that finds the queue full,
//!   spin for as long as a hold lasts, and yield and sleep after that: see `sync.rs`.
//! * **Generations.** A shard serves runtimes in turn, and outlives them. Every operation on an
//!   entry names a generation, and is refused as [`Closed`](Refused::Closed) once that generation
//!   has ended.
//!
//! * **Changes first.** A thread that is to change an entry under the lock first carries out the
//!   changes that wait: one may be of that entry, for a reset that was queued. The spare has none:
//!   its timer was cancelled after that rule.
//!
//! A race remains: a change may be queued just after the holder has read `waiting`. It waits for the
//! next holder, or for a turn, which comes at its timer's deadline at the latest.
//!
//! # The spare
//!
//! A worker wraps operation after operation in a timeout: a timer is cancelled, and the next is
//! armed. So a cancelled timer's entry stays in the wheel, if there is no such entry yet: the
//! *spare*. The next timer takes the spare, and moves its deadline lazily: unless the deadline is
//! earlier, nothing is removed from a slot and nothing inserted. The waker of a task stays in the
//! spare, and if the next timer is the same task's, and due no earlier, nothing is cloned or
//! dropped; any other waker is dropped with its timer. The spare is the timer's by the rule above:
//! each hold that moves the clock, or looks for the next deadline, removes the spare.
//!
//! # Straight ways
//!
//! A worker's frequent operations are a single try of the lock and a few stores, without a call:
//! [`Shard::arm_again`], [`Shard::put_off`] and [`Shard::leave`]. They refuse where anything else is to
//! be done, and the caller takes the longer way.
//!
//! # Lines of memory
//!
//! `state` is written by the shard's own worker all the time. `published` is read by each
//! operation, and written when the earliest deadline changes, by turns, and by changes from
//! elsewhere. `changes` is written by other workers.

mod turn;

use std::task::Waker;

use super::change_queue::{CANCELLED, CAPACITY, Change, ChangeQueue, EntryRef, Refused};
use super::wakers;
use crate::clock::{MILLISECOND, Tick};
use crate::counts::{LagHistogram, MetricsSnapshot as Snapshot};
use crate::settings::Generation;
use crate::sync::{self, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Lock, LockGuard, Ordering};
use crate::wheel::core::Core;

/// Slots per level. A timer that fires has moved once for each level above the lowest that is used,
/// and each move waits for memory. With 64 slots there would be another level; with 512 a slot that
/// cascades would hold more entries than a cache does until they fire.
const SLOTS: usize = 256;
/// Slots up to this level (256² ns = 65 µs wide) fire as a whole once all of the slot is due:
/// wakers within such a slot are woken in no particular order.
const GRAIN: usize = 2;

/// Soon enough for a look whether the next timer was cancelled, and early enough for a worker that
/// sleeps: that wakes up for the alarm that was set when it went to sleep.
pub(super) const SOON: u64 = 3 * MILLISECOND;

/// The wakers of cancelled timers, if any changes waited.
type Cancelled = Option<[Option<Waker>; CAPACITY]>;

/// An entry without a waker is a spare.
type Wheel = Core<Option<Waker>, SLOTS, GRAIN>;

/// A shard of a driver. The fields that its own worker writes, those that all threads read, and
/// those that other workers write are on different lines of memory, and on different pairs of
/// lines, which a processor may fetch together.
#[repr(C, align(128))]
pub(crate) struct Shard {
    state: Lock<ShardState>,
    published: Published,
    changes: ChangeQueue,
}

/// The shards of a driver.
pub(super) trait Shards: Iterator<Item = &'static Shard> + Clone {}

impl<I: Iterator<Item = &'static Shard> + Clone> Shards for I {}

/// The fields that are read without the lock.
#[derive(Default)]
#[repr(align(128))]
struct Published {
    /// Entries due by this tick belong to the driver.
    clock: AtomicU64,
    /// Nothing in the wheel is due before this. [`Tick::NEVER`] when the wheel is empty.
    next: AtomicU64,
    /// From this deadline on, a timer is armed without another look: see `when.rs`.
    plain_from: AtomicU64,
    /// Changes in the queue.
    waiting: AtomicUsize,
    /// Counts the drivers that this shard has served.
    generation: AtomicU16,
    /// Counts the threads that have been this shard's worker: only the last of them is.
    worker: AtomicU32,
    /// When a thread last looked for overdue timers here.
    looked: AtomicU64,
}

/// The fields that the lock protects: in this order, and so aligned, the wheel begins as far behind
/// the start of a line of memory as [`Core`] says.
#[repr(C, align(16))]
pub(super) struct ShardState {
    /// The entry of a cancelled timer, left for the next timer.
    spare: Option<u32>,
    /// Timers armed in the place of a spare.
    reused: u64,
    /// Pending timers that were given another deadline.
    resets: u64,
    wheel: Wheel,
    /// Of all timers that fired.
    lag: LagHistogram,
}

impl ShardState {
    /// An empty wheel at this time; nothing has been counted.
    const fn starting_at(now: u64) -> Self {
        ShardState {
            spare: None,
            reused: 0,
            resets: 0,
            wheel: Wheel::starting_at(now),
            lag: LagHistogram::new(),
        }
    }

    /// Adds a timer: in the place of the spare, if there is a spare. Returns the timer's key, and
    /// the waker that the spare had.
    #[inline(always)]
    fn put(&mut self, when: Tick, waker: Waker) -> (u32, Option<Waker>) {
        let Some(spare) = self.spare.take() else {
            return (self.insert(when, waker), None);
        };
        self.reused += 1;
        (spare, self.wheel.replace(spare, when.0, Some(waker)))
    }

    /// Out of line: arming in the place of the spare keeps a small frame.
    #[inline(never)]
    fn insert(&mut self, when: Tick, waker: Waker) -> u32 {
        self.wheel.insert(when.0, Some(waker))
    }

    /// Adds a timer in the place of the spare, if that has this very waker.
    #[inline(always)]
    fn put_again(&mut self, when: Tick, waker: &Waker) -> Option<u32> {
        let spare = self.spare?;
        let is_same =
            |left: &Option<Waker>| left.as_ref().is_some_and(|left| left.will_wake(waker));
        if !self.wheel.put_off_if(spare, when.0, is_same) {
            return None;
        }
        self.spare = None;
        self.reused += 1;
        Some(spare)
    }

    /// Leaves a timer's entry as the spare, or removes it. Returns the waker.
    #[inline(always)]
    fn take(&mut self, key: u32) -> Option<Waker> {
        if self.spare.is_some() {
            return self.wheel.remove(key);
        }
        self.spare = Some(key);
        self.wheel.get_mut(key).take()
    }

    /// Makes a change that was queued. Returns the waker of a cancelled timer.
    fn carry_out(&mut self, change: &Change) -> Option<Waker> {
        if change.deadline == CANCELLED {
            return self.take(change.entry.key);
        }
        self.resets += 1;
        self.wheel
            .reschedule_lazily(change.entry.key, change.deadline.0);
        None
    }

    #[must_use = "to be dropped outside the lock"]
    fn remove_spare(&mut self) -> Option<Waker> {
        let spare = self.spare.take()?;
        self.wheel.remove(spare)
    }

    /// Timers in the wheel.
    fn pending(&self) -> usize {
        self.wheel.len() - usize::from(self.spare.is_some())
    }

    fn snapshot(&self) -> Snapshot {
        let fired = self.lag.count();
        Snapshot {
            registered: self.wheel.inserted() + self.reused,
            fired,
            cancelled: self.wheel.removed() - fired + self.reused + u64::from(self.spare.is_some()),
            pending: self.pending(),
            reset: self.resets,
            cascaded: self.wheel.cascaded(),
            lag: self.lag.clone(),
            driver_wakeups: 0,
            driver_noops: 0,
            slab_capacity: self.wheel.capacity(),
        }
    }
}

/// A shard whose lock this thread holds.
pub(super) type Held<'a> = LockGuard<'a, ShardState>;

/// The published fields.
impl Shard {
    pub(super) fn new() -> Self {
        Shard {
            state: Lock::new(ShardState::starting_at(0)),
            published: Published::default(),
            changes: ChangeQueue::new(),
        }
    }

    /// The clock up to which entries belong to the driver.
    #[inline]
    pub(crate) fn clock(&self) -> Tick {
        Tick(self.published.clock.load(Ordering::Acquire))
    }

    #[inline]
    pub(crate) fn next(&self) -> Tick {
        Tick(self.published.next.load(Ordering::SeqCst))
    }

    /// Whether a timer is overdue, or is due within [`SOON`]. Not in the last moments of the range.
    #[inline]
    pub(super) fn is_due_soon(&self, now: Tick) -> bool {
        self.next().0 <= now.0.wrapping_add(SOON)
    }

    /// A thread looks for overdue timers `now`. Returns the nanoseconds since the last look.
    pub(super) fn look(&self, now: Tick) -> u64 {
        let last = self.published.looked.load(Ordering::Relaxed);
        self.published.looked.store(now.0, Ordering::Relaxed);
        now.0.abs_diff(last)
    }

    #[inline]
    pub(super) fn plain_from(&self) -> Tick {
        Tick(self.published.plain_from.load(Ordering::SeqCst))
    }

    pub(super) fn set_plain_from(&self, from: Tick) {
        self.published.plain_from.store(from.0, Ordering::SeqCst);
    }

    pub(super) fn raise_plain_from(&self, from: Tick) {
        self.published
            .plain_from
            .fetch_max(from.0, Ordering::SeqCst);
    }

    #[inline]
    pub(crate) fn generation(&self) -> Generation {
        self.published.generation.load(Ordering::Acquire)
    }

    #[inline]
    pub(crate) fn serves(&self, generation: Generation) -> bool {
        self.generation() == generation
    }

    /// The number of the thread that is this shard's worker now.
    #[inline]
    pub(super) fn worker(&self) -> u32 {
        self.published.worker.load(Ordering::Acquire)
    }

    /// Another thread is to be this shard's worker, or none. Returns its number.
    pub(super) fn change_worker(&self) -> u32 {
        self.published.worker.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Whether changes wait here.
    #[inline]
    pub(super) fn has_changes(&self) -> bool {
        self.published.waiting.load(Ordering::Acquire) != 0
    }

    /// Makes sure that `next` is not later than `when`. Under the shard's lock, or the queue's.
    #[inline]
    fn announce(&self, when: Tick) {
        if when.0 < self.published.next.load(Ordering::Relaxed) {
            self.published.next.fetch_min(when.0, Ordering::SeqCst);
        }
    }

    fn publish(&self, next: Tick) {
        self.published.next.store(next.0, Ordering::SeqCst);
    }
}

/// Taking the lock, and the work before its release.
impl Shard {
    /// Waits for the lock: for the driver, and for a reset that the queue refuses. Carries out the
    /// changes that wait first.
    pub(super) fn wait(&self) -> Held<'_> {
        let state = sync::wait(&self.state);
        if !self.has_changes() {
            return state;
        }
        self.drain_and_unlock(state);
        sync::wait(&self.state)
    }

    /// Tries once. Changes may wait: see [`drained`](Self::drained).
    #[inline]
    pub(super) fn try_lock(&self) -> Option<Held<'_>> {
        self.state.try_lock()
    }

    /// Tries for a moment. Changes that wait have been carried out then: what changes an entry begins
    /// with this, or with [`drained`](Self::drained), for a change of that entry may be among them.
    pub(super) fn try_often(&self) -> Option<Held<'_>> {
        self.drained(sync::try_often(&self.state)?)
    }

    /// Carries out the changes that wait, if there are any, and then tries the lock once more.
    #[inline]
    pub(super) fn drained<'a>(&'a self, state: Held<'a>) -> Option<Held<'a>> {
        if !self.has_changes() {
            return Some(state);
        }
        self.drain_and_unlock(state);
        self.try_lock()
    }

    /// Releases the lock. Memory that is no longer needed is freed after that.
    #[inline]
    fn unlock(&self, state: Held<'_>) {
        if state.wheel.has_garbage() {
            unlock_and_free(state);
        }
    }

    /// Carries out the changes that wait, and releases the lock. Wakers are dropped after that.
    #[cold]
    fn drain_and_unlock(&self, mut state: Held<'_>) {
        let cancelled = self.drain(&mut state, || ());
        self.unlock(state);
        wakers::discard(cancelled.into_iter().flatten().flatten());
    }

    /// Takes the changes that wait, does `then` before any other comes, and makes them. Returns the
    /// wakers of cancelled timers, to be dropped outside the lock.
    fn drain(&self, state: &mut ShardState, then: impl FnOnce()) -> Cancelled {
        let (changes, len) = self.changes.take(&self.published.waiting, then)?;
        let mut wakers = [const { None }; CAPACITY];
        for (change, waker) in changes[..len].iter().zip(&mut wakers) {
            *waker = state.carry_out(change);
        }
        Some(wakers)
    }

    /// Whether an entry is, or would be, its timer's. Without the lock, only a refusal holds.
    #[inline]
    pub(super) fn check(&self, generation: Generation, when: Tick) -> Result<(), Refused> {
        // First: in this order, the clock of a later generation is not mistaken for that of the
        // timer's own.
        let clock = self.clock();
        if !self.serves(generation) {
            Err(Refused::Closed)
        } else if when <= clock {
            Err(Refused::Due)
        } else {
            Ok(())
        }
    }
}

/// The operations of timers.
impl Shard {
    /// Adds a timer, unless the shard is busy, or the timer's [`check`](Self::check) fails. Returns
    /// the timer's key, and the waker that the spare had.
    #[inline(always)]
    pub(super) fn arm(
        &self,
        generation: Generation,
        when: Tick,
        waker: Waker,
    ) -> Option<(u32, Option<Waker>)> {
        let mut state = self.try_lock()?;
        // A refused waker is dropped with the arguments: after the guard.
        self.check(generation, when).ok()?;
        let armed = state.put(when, waker);
        self.announce(when);
        // An insert leaves no garbage.
        match self.has_changes() {
            false => drop(state),
            true => self.drain_and_unlock(state),
        }
        Some(armed)
    }

    /// Adds a timer in the place of the spare, if that has this very waker and no later deadline,
    /// and nothing else is to be done under the lock.
    ///
    /// The spare's deadline is later than the clock, is announced, and the alarm is set for that
    /// deadline: so all of this holds for a later deadline.
    #[inline(always)]
    pub(super) fn arm_again(
        &self,
        generation: Generation,
        when: Tick,
        waker: &Waker,
    ) -> Option<u32> {
        let mut state = self.try_lock()?;
        match self.serves(generation) && !self.has_changes() {
            true => state.put_again(when, waker),
            false => None,
        }
    }

    /// Leaves the entry of a task's timer, with its waker, as the spare, unless there is a spare, or
    /// anything else is to be done.
    #[inline(always)]
    pub(super) fn leave(&self, state: &mut ShardState, entry: EntryRef) -> bool {
        let leaves = state.spare.is_none()
            && self.check(entry.generation, entry.when).is_ok()
            && self.plain_from() != Tick::NEVER;
        if leaves {
            state.spare = Some(entry.key);
        }
        leaves
    }

    /// Cancels a timer, and returns its waker. If there is no spare, the entry is the spare.
    #[must_use = "to be dropped outside the lock"]
    #[inline]
    pub(super) fn cancel(&self, mut state: Held<'_>, entry: EntryRef) -> Option<Waker> {
        let waker = match self.check(entry.generation, entry.when) {
            Ok(()) => state.take(entry.key),
            Err(_refused) => None,
        };
        self.unlock(state);
        waker
    }

    /// Queues a change of a registered timer: its cancel, or another deadline, which is announced.
    /// Nothing else of the shard is touched, unless the queue is full.
    pub(super) fn change_later(&self, entry: EntryRef, deadline: Tick) -> Result<(), Refused> {
        let mut tries = 0;
        while !self.push(Change { entry, deadline })? {
            self.make_room(tries);
            tries += 1;
        }
        Ok(())
    }

    fn push(&self, change: Change) -> Result<bool, Refused> {
        let Change { entry, deadline } = change;
        let accept = || {
            // Neither the old deadline nor the new one may have come.
            self.check(entry.generation, deadline.min(entry.when))?;
            self.announce(deadline);
            Ok(())
        };
        self.changes.push(change, &self.published.waiting, accept)
    }

    /// The queue is full: this thread empties it, or waits for the thread that has the shard.
    #[cold]
    fn make_room(&self, tries: u32) {
        match self.try_lock() {
            Some(state) => self.drain_and_unlock(state),
            None => sync::back_off(tries),
        }
    }

    /// Gives a registered timer another waker, and returns the old waker.
    pub(super) fn replace_waker(
        &self,
        entry: EntryRef,
        waker: Waker,
        mut state: Held<'_>,
    ) -> Result<Option<Waker>, Refused> {
        // A refused waker is dropped after the guard, which is the last argument.
        self.check(entry.generation, entry.when)?;
        let old = state.wheel.get_mut(entry.key).replace(waker);
        self.unlock(state);
        Ok(old)
    }

    /// Moves a registered timer to a later deadline, if nothing else is to be done under the lock.
    #[inline(always)]
    pub(super) fn put_off(&self, entry: EntryRef, deadline: Tick) -> bool {
        let Some(mut state) = self.try_lock() else {
            return false;
        };
        if self.check(entry.generation, entry.when).is_err() || self.has_changes() {
            return false;
        }
        let done = state.wheel.put_off_if(entry.key, deadline.0, |_| true);
        state.resets += u64::from(done);
        done
    }

    /// Moves a registered timer to another deadline; where the shard is busy, that is queued. A
    /// deadline that is not after the shard's clock takes the timer out: its waker is handed back.
    pub(super) fn reschedule(
        &self,
        entry: EntryRef,
        deadline: Tick,
    ) -> Result<Option<Waker>, Refused> {
        // Without the lock: most such timers have fired.
        self.check(entry.generation, entry.when)?;
        let mut state = match self.try_often() {
            Some(state) => state,
            None if self.change_later(entry, deadline).is_ok() => return Ok(None),
            None => self.wait(),
        };
        self.check(entry.generation, entry.when)?;
        state.resets += 1;
        let fired = if deadline <= self.clock() {
            state.lag.record(0);
            state.wheel.remove(entry.key)
        } else {
            state.wheel.reschedule_lazily(entry.key, deadline.0);
            self.announce(deadline);
            None
        };
        self.unlock(state);
        Ok(fired)
    }
}

#[cold]
fn unlock_and_free(mut state: Held<'_>) {
    let garbage = state.wheel.take_garbage();
    drop(state);
    drop(garbage);
}

#[cfg(all(test, not(loom)))]
mod tests;
