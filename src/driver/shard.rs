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
//! * **Bounded holds.** A hold makes at most [`HOLD`] late cancels, fires at most as many entries,
//!   and moves at most four keys for each. The keys of a slot are copied when their list grows, four
//!   bytes each.
//! * **Only a reset waits for the lock.** The holder may have lost its processor to this very thread.
//!   So each other operation tries for a moment, and then goes another way. Arming takes another shard
//!   for that timer. A cancel goes into the list of late cancels. A poll with another waker cancels the
//!   timer and arms it anew. A reset spins for as long as a hold lasts, and yields and sleeps after
//!   that: see `sync.rs`.
//! * **Generations.** A shard serves runtimes in turn, and outlives them. Every operation on an
//!   entry names a generation, and is refused as [`Closed`](Refused::Closed) once that generation
//!   has ended.
//!
//! # Late cancels
//!
//! A task that was stolen drops its timer far from the timer's shard. Taking the shard's lock there
//! would move the lock, the entry, its slot and its bitmap to another processor, and back again for
//! the next timer. So the timer's [`EntryRef`] goes into a list behind a lock of its own, also where the
//! shard is busy. The next thread that locks the shard makes what is in the list, by the same rule as a
//! cancel that comes at once: if by then the entry is the driver's, the cancel does nothing. Nothing in
//! the list is accepted or refused before.
//!
//! A cancel may come just after the holder has looked at the list. It is made by the next holder, or by
//! a turn, which comes at its timer's deadline at the latest.
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
//! operation, and written when the earliest deadline changes, and by turns. `late` is written by
//! other workers.

mod turn;

use std::task::Waker;

use super::wakers;
use crate::clock::{MILLISECOND, Tick};
use crate::counts::{LagHistogram, MetricsSnapshot as Snapshot};
use crate::settings::{Generation, HOLD};
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

/// A registered timer: its entry and its deadline. Two words, which a call passes in registers.
#[derive(Clone, Copy)]
pub(super) struct EntryRef {
    pub(super) key: u32,
    pub(super) generation: Generation,
    pub(super) when: Tick,
}

/// Why a shard refuses an operation.
pub(super) enum Refused {
    /// The deadline is not after the shard's clock: the entry is, or would be, the driver's.
    Due,
    /// The driver has ended.
    Closed,
}

/// The wakers of late cancels that were made, if there were any.
type Cancelled = Option<[Option<Waker>; HOLD]>;

/// An entry without a waker is a spare.
type Wheel = Core<Option<Waker>, SLOTS, GRAIN>;

/// A shard of a driver. The fields that its own worker writes, those that all threads read, and
/// those that other workers write are on different lines of memory, and on different pairs of
/// lines, which a processor may fetch together.
#[repr(C, align(128))]
pub(crate) struct Shard {
    state: Lock<ShardState>,
    published: Published,
    late: Late,
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
    /// Counts the drivers that this shard has served.
    generation: AtomicU16,
    /// Counts the threads that have been this shard's worker: only the last of them is.
    worker: AtomicU32,
}

/// Cancels from other workers, or that found the shard busy.
#[repr(align(128))]
struct Late {
    /// The length of the list.
    waiting: AtomicUsize,
    cancels: Lock<Vec<EntryRef>>,
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
            late: Late {
                waiting: AtomicUsize::new(0),
                cancels: Lock::new(Vec::new()),
            },
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

    #[inline]
    pub(super) fn plain_from(&self) -> Tick {
        Tick(self.published.plain_from.load(Ordering::SeqCst))
    }

    pub(super) fn set_plain_from(&self, from: Tick) {
        self.published.plain_from.store(from.0, Ordering::SeqCst);
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

    /// Makes sure that `next` is not later than `when`. Under the lock.
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

/// Taking the lock, and the work before its release.
impl Shard {
    /// Whether there are late cancels.
    #[inline]
    pub(super) fn has_late_cancels(&self) -> bool {
        self.late.waiting.load(Ordering::Relaxed) != 0
    }

    /// Waits for the lock. There are no late cancels then, unless they come now.
    pub(super) fn wait(&self) -> Held<'_> {
        loop {
            let state = sync::wait(&self.state);
            if !self.has_late_cancels() {
                return state;
            }
            self.unlock_and_tidy(state);
        }
    }

    /// Tries once.
    #[inline]
    pub(super) fn try_lock(&self) -> Option<Held<'_>> {
        self.state.try_lock()
    }

    /// Releases the lock, after what others have left to be done.
    #[inline]
    fn unlock(&self, state: Held<'_>) {
        if self.has_late_cancels() || state.wheel.has_garbage() {
            self.unlock_and_tidy(state);
        }
    }

    /// Makes late cancels, and releases the lock. Their wakers, and memory that is no longer needed,
    /// are freed after that.
    #[cold]
    fn unlock_and_tidy(&self, mut state: Held<'_>) {
        let cancelled = self.make_late_cancels(&mut state);
        let garbage = state.wheel.take_garbage();
        drop(state);
        drop(garbage);
        wakers::discard(cancelled.into_iter().flatten().flatten());
    }

    /// Makes as many late cancels as a hold may. Returns the wakers, to be dropped outside the lock.
    fn make_late_cancels(&self, state: &mut ShardState) -> Cancelled {
        if !self.has_late_cancels() {
            return None;
        }
        let mut wakers = [const { None }; HOLD];
        let mut cancels = sync::wait(&self.late.cancels);
        let rest = cancels.len().saturating_sub(HOLD);
        for (entry, waker) in cancels.drain(rest..).zip(&mut wakers) {
            if self.check(entry.generation, entry.when).is_ok() {
                *waker = state.take(entry.key);
            }
        }
        self.late.waiting.store(rest, Ordering::Relaxed);
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
        self.unlock(state);
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
        match self.serves(generation) && !self.has_late_cancels() {
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

    /// Cancels a timer on another worker, or where the shard is busy. Never waits for the shard.
    pub(super) fn cancel_later(&self, entry: EntryRef) {
        // Most such timers have fired; and after the driver's end nothing would empty the list.
        if self.check(entry.generation, entry.when).is_err() {
            return;
        }
        let mut cancels = sync::wait(&self.late.cancels);
        cancels.push(entry);
        let waiting = cancels.len();
        self.late.waiting.store(waiting, Ordering::Relaxed);
        drop(cancels);
        if waiting >= HOLD {
            if let Some(state) = self.try_lock() {
                self.unlock_and_tidy(state);
            }
        }
    }

    /// Gives a registered timer another waker, and returns the old waker. Where the shard is busy, that
    /// is an error, and the new waker is handed back.
    pub(super) fn replace_waker(
        &self,
        entry: EntryRef,
        waker: Waker,
    ) -> Result<Result<Option<Waker>, Refused>, Waker> {
        let Some(mut state) = sync::try_often(&self.state) else {
            return Err(waker);
        };
        if let Err(refused) = self.check(entry.generation, entry.when) {
            // Before the waker is dropped.
            drop(state);
            return Ok(Err(refused));
        }
        let old = state.wheel.get_mut(entry.key).replace(waker);
        self.unlock(state);
        Ok(Ok(old))
    }

    /// Moves a registered timer to a later deadline, if nothing else is to be done under the lock.
    #[inline(always)]
    pub(super) fn put_off(&self, entry: EntryRef, deadline: Tick) -> bool {
        let Some(mut state) = self.try_lock() else {
            return false;
        };
        if self.check(entry.generation, entry.when).is_err() || self.has_late_cancels() {
            return false;
        }
        let done = state.wheel.put_off_if(entry.key, deadline.0, |_| true);
        state.resets += u64::from(done);
        done
    }

    /// Moves a registered timer to another deadline; waits for the lock. A deadline that is not after
    /// the shard's clock takes the timer out: its waker is handed back.
    pub(super) fn reschedule(
        &self,
        entry: EntryRef,
        deadline: Tick,
    ) -> Result<Option<Waker>, Refused> {
        // Without the lock: most such timers have fired.
        self.check(entry.generation, entry.when)?;
        let mut state = sync::wait(&self.state);
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

#[cfg(all(test, not(loom)))]
mod tests;
