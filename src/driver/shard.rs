//! A shard: a worker's share of the timers, in a timing wheel behind a spin lock.
//!
//! This file has the data, the published fields, the lock and the late cancels.
//! `shard/operations.rs` has what timers do under the lock, `shard/expiry.rs` what the driver does.
//!
//! # Ground rules
//!
//! * **Store `clock`, `next` and `generation` only while holding the lock**, because the wheel must
//!   agree with them. They are atomics so that other threads can *read* them without the lock.
//! * **Time decides who owns an entry.** An entry whose deadline is later than `clock` belongs to
//!   its timer. An entry at or before `clock` belongs to the driver. Both sides compare with the
//!   same clock under the same lock ([`check`](Shard::check)), so a timer uses its key only while
//!   its entry is certainly there, and a timer that has fired needs no second visit. (A timer that
//!   is dropped after its entry became due can still be woken once, spuriously.)
//! * **Run no user code while holding the lock.** Wakers are cloned before the lock is taken, and
//!   woken or dropped after its release, because a waker may use timers of the same shard and would
//!   deadlock. Memory is freed after the release, too.
//! * **Every critical section is bounded.** It applies at most [`BATCH`] late cancels, or fires at
//!   most [`BATCH`] entries, and moves at most four keys for each. When the list of keys of a slot,
//!   or of late cancels, grows, it is copied: four or sixteen bytes per timer.
//! * **Arming and cancelling never wait for the lock**, because its holder may have lost its
//!   processor to this very thread. If the shard is busy, arming takes another shard for that
//!   timer, and a cancel goes into the list of late cancels. A reset, and a poll with another
//!   waker, wait for one critical section: they spin, then yield, then sleep (see `sync.rs`).
//! * **Every operation names a generation.** A shard outlives the runtimes that it runs for, one
//!   after the other. An operation whose generation has ended is refused as
//!   [`Closed`](Refused::Closed).
//!
//! # Late cancels
//!
//! A task that was stolen drops its timer far from the timer's shard. Taking the lock there would
//! move the lock, the entry, its slot and its bitmap to another processor, and back again for the
//! next timer. So the timer's [`EntryRef`] is queued instead, and **whoever locks the shard next
//! applies the ownership rule to it, as if the cancel came now**. If the entry has become the
//! driver's in the meantime, its deadline is not after the clock, and the cancel is refused. This
//! holds even if another timer has the key by then, because that timer's deadline is later. So a
//! late cancel needs no acceptance and no order. (Two fast paths, [`cache`](Shard::cache) and
//! [`extend`](Shard::extend), leave the list to the next thread.)
//!
//! * A timer is in the list at most once, because queueing its cancel makes the timer idle. So the
//!   list is not longer than the shard's pending timers, except for threads that are just dropping
//!   a timer.
//! * Each critical section applies at most [`BATCH`]; an expiry pass goes on until the list is
//!   empty. An empty list gives back a capacity above [`KEPT`].
//! * A race remains: a cancel may be queued just after the holder of the lock has read the length
//!   of the list. It waits for the next holder, which is the pass at the timer's own deadline at
//!   the latest.
//! * Any waker may wait in the wheel with its late cancel. The waker of a task keeps the memory of
//!   the task and the handle of its runtime, never its future.
//!
//! # The cached entry
//!
//! A worker wraps operation after operation in a timeout: it cancels a timer, and arms the next. So
//! the entry of a cancelled timer stays in the wheel, unless there is such an entry already: the
//! *cached entry*. The next timer takes it over and extends its deadline lazily, so nothing is
//! removed from a slot and nothing is inserted, unless the new deadline is earlier. A task's waker
//! stays in the cached entry. If the next timer is the same task's and due no earlier, nothing is
//! cloned or dropped. The cached entry is its timer's by the rule of ownership, so each critical
//! section that moves the clock, or searches for the next deadline, removes it first.
//!
//! # Cache lines
//!
//! The shard's own worker writes `state` all the time. Every operation reads `published`, which is
//! written when the earliest deadline changes, by passes, and by late cancels. Other workers write
//! `late`.

mod expiry;
mod operations;

use std::mem;
use std::task::Waker;

use super::driver::Driver;
use super::wakers;
use crate::clock::{MILLISECOND, Tick};
use crate::counts::{LagHistogram, MetricsSnapshot as Snapshot};
use crate::settings::{BATCH, Generation};
use crate::sync::{self, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Lock, LockGuard, Ordering};
use crate::wheel::core::Core;

/// Slots per level. A timer that fires has moved once for each level above the lowest that is used,
/// and each move waits for memory. With 64 slots there would be another level; with 512 a slot that
/// cascades would hold more entries than a cache does until they fire.
const SLOTS: usize = 256;
/// Slots up to this level (256² ns = 65 µs wide) fire as a whole once all of the slot is due:
/// wakers within such a slot are woken in no particular order.
const GRAIN: usize = 2;
/// Maximum capacity that an empty list of late cancels keeps.
const KEPT: usize = 1_024;

/// How long before the next deadline a thread checks whether that timer was cancelled. A worker
/// that is asleep by then wakes up for the alarm that was set when it went to sleep.
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
    /// The driver has shut down.
    Closed,
}

/// An entry without a waker is a cached entry.
type Wheel = Core<Option<Waker>, SLOTS, GRAIN>;

/// A shard of a driver. What its own worker writes, what all threads read, and what other workers
/// write are on different cache lines, and on different pairs of lines, which a processor may fetch
/// together.
#[repr(C, align(128))]
pub(crate) struct Shard {
    state: Lock<ShardState>,
    published: Published,
    late: Late,
    pub(crate) driver: &'static Driver,
    pub(super) index: usize,
}

/// The fields that are read without the lock.
#[derive(Default)]
#[repr(align(128))]
struct Published {
    /// Entries due by this tick belong to the driver.
    clock: AtomicU64,
    /// Nothing in the wheel is due before this. [`Tick::NEVER`] when the wheel is empty.
    next: AtomicU64,
    /// From this deadline on, a timer takes the fast path: see `when.rs`.
    fast_path_from: AtomicU64,
    /// Length of the list of late cancels.
    late_cancels: AtomicUsize,
    /// Counts the runtimes that this shard has run for.
    generation: AtomicU16,
    /// Counts the threads that have been this shard's worker: only the last of them is.
    worker: AtomicU32,
}

/// Cancels from other workers, and cancels that found the shard busy.
#[repr(align(128))]
struct Late(Lock<Vec<EntryRef>>);

/// The fields that the lock protects: in this order, and so aligned, the wheel begins as far behind
/// the start of a cache line as [`Core`] says.
#[repr(C, align(16))]
pub(super) struct ShardState {
    /// The entry of a cancelled timer, kept for the next timer.
    cached: Option<u32>,
    /// Timers that have taken over a cached entry.
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
            cached: None,
            reused: 0,
            resets: 0,
            wheel: Wheel::starting_at(now),
            lag: LagHistogram::new(),
        }
    }

    /// Adds a timer, in the cached entry if there is one. Returns the timer's key, and the waker
    /// that was in the cached entry.
    #[inline(always)]
    fn put(&mut self, when: Tick, waker: Waker) -> (u32, Option<Waker>) {
        let Some(cached) = self.cached.take() else {
            return (self.wheel.insert(when.0, Some(waker)), None);
        };
        self.reused += 1;
        (cached, self.wheel.replace(cached, when.0, Some(waker)))
    }

    /// Adds a timer in the cached entry, if that has this very waker.
    #[inline(always)]
    fn put_again(&mut self, when: Tick, waker: &Waker) -> Option<u32> {
        let cached = self.cached?;
        let is_same = |kept: &Option<Waker>| kept.as_ref().is_some_and(|it| it.will_wake(waker));
        if !self.wheel.extend_if(cached, when.0, is_same) {
            return None;
        }
        self.cached = None;
        self.reused += 1;
        Some(cached)
    }

    /// Caches a timer's entry, or removes it if another is cached. Returns the waker.
    #[inline(always)]
    fn take(&mut self, key: u32) -> Option<Waker> {
        if self.cached.is_some() {
            return self.wheel.remove(key);
        }
        self.cached = Some(key);
        self.wheel.get_mut(key).take()
    }

    #[must_use = "to be dropped outside the lock"]
    fn remove_cached(&mut self) -> Option<Waker> {
        let cached = self.cached.take()?;
        self.wheel.remove(cached)
    }

    /// Timers in the wheel.
    fn pending(&self) -> usize {
        self.wheel.len() - usize::from(self.cached.is_some())
    }

    fn snapshot(&self) -> Snapshot {
        let (fired, cached) = (self.lag.count(), u64::from(self.cached.is_some()));
        Snapshot {
            registered: self.wheel.inserted() + self.reused,
            fired,
            cancelled: self.wheel.removed() - fired + self.reused + cached,
            pending: self.pending(),
            reset: self.resets,
            cascaded: self.wheel.cascaded(),
            lag: self.lag.clone(),
            slab_capacity: self.wheel.capacity(),
            ..Snapshot::default()
        }
    }
}

/// A shard whose lock this thread holds.
pub(super) type Held<'a> = LockGuard<'a, ShardState>;

/// The published fields.
impl Shard {
    pub(super) fn new(driver: &'static Driver, index: usize) -> Self {
        Shard {
            state: Lock::new(ShardState::starting_at(0)),
            published: Published::default(),
            late: Late(Lock::new(Vec::new())),
            driver,
            index,
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

    /// Whether a timer is late, or is due within [`SOON`]. Not in the last moments of the range.
    #[inline]
    pub(super) fn is_due_soon(&self, now: Tick) -> bool {
        self.next().0 <= now.0.wrapping_add(SOON)
    }

    #[inline]
    pub(super) fn fast_path_from(&self) -> Tick {
        Tick(self.published.fast_path_from.load(Ordering::SeqCst))
    }

    pub(super) fn set_fast_path_from(&self, from: Tick) {
        let published = &self.published;
        published.fast_path_from.store(from.0, Ordering::SeqCst);
    }

    #[inline]
    pub(crate) fn generation(&self) -> Generation {
        self.published.generation.load(Ordering::Acquire)
    }

    #[inline]
    pub(crate) fn is_open_in(&self, generation: Generation) -> bool {
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
    fn lower_next(&self, when: Tick) {
        if when.0 < self.published.next.load(Ordering::Relaxed) {
            self.publish(when);
        }
    }

    fn publish(&self, next: Tick) {
        self.published.next.store(next.0, Ordering::SeqCst);
    }

    /// Whether an entry is, or would be, its timer's. Without the lock, only a refusal is reliable.
    #[inline]
    pub(super) fn check(&self, generation: Generation, when: Tick) -> Result<(), Refused> {
        // First: in this order, the clock of a later generation is not mistaken for that of the
        // timer's own.
        let clock = self.clock();
        if !self.is_open_in(generation) {
            Err(Refused::Closed)
        } else if when <= clock {
            Err(Refused::Due)
        } else {
            Ok(())
        }
    }
}

/// The lock, and late cancels.
impl Shard {
    /// Tries the lock once.
    #[inline]
    pub(super) fn try_lock(&self) -> Option<Held<'_>> {
        self.state.try_lock()
    }

    /// Waits for the lock. No cancel is queued then, unless it comes now.
    pub(super) fn wait(&self) -> Held<'_> {
        loop {
            let state = sync::wait(&self.state);
            if !self.has_late_cancels() {
                return state;
            }
            self.unlock_and_tidy(state);
        }
    }

    /// Releases the lock, after what other threads have left to be done.
    #[inline]
    fn unlock(&self, state: Held<'_>) {
        if self.has_late_cancels() || state.wheel.has_garbage() {
            self.unlock_and_tidy(state);
        }
    }

    /// Applies as many late cancels as a critical section may, and releases the lock. Then frees
    /// what is no longer needed.
    #[cold]
    #[inline(never)]
    fn unlock_and_tidy(&self, mut state: Held<'_>) {
        let mut wakers = [const { None }; BATCH];
        let mut cancels = sync::wait(&self.late.0);
        let rest = cancels.len().saturating_sub(BATCH);
        for (entry, waker) in cancels.drain(rest..).zip(&mut wakers) {
            if self.check(entry.generation, entry.when).is_ok() {
                *waker = state.take(entry.key);
            }
        }
        self.published.late_cancels.store(rest, Ordering::Relaxed);
        let is_too_large = rest == 0 && cancels.capacity() > KEPT;
        let emptied = is_too_large.then(|| mem::take(&mut *cancels));
        drop(cancels);
        let garbage = state.wheel.take_garbage();
        drop(state);
        drop((emptied, garbage));
        wakers::discard(wakers.into_iter().flatten());
    }

    /// Whether cancels are queued.
    #[inline]
    pub(super) fn has_late_cancels(&self) -> bool {
        self.published.late_cancels.load(Ordering::Relaxed) != 0
    }

    /// Queues the cancel of a timer. Never waits for the shard.
    pub(super) fn cancel_later(&self, entry: EntryRef) {
        // Most such timers have fired; and after a shutdown nothing would empty the list.
        if self.check(entry.generation, entry.when).is_err() {
            return;
        }
        let mut cancels = sync::wait(&self.late.0);
        cancels.push(entry);
        let queued = cancels.len();
        self.published.late_cancels.store(queued, Ordering::Relaxed);
        drop(cancels);
        if queued >= BATCH {
            if let Some(state) = self.try_lock() {
                self.unlock_and_tidy(state);
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
