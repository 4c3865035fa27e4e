//! A shard: a worker's share of the timers, in a timing wheel behind a spin lock. This file has its
//! data, its lock and its late cancels.
//!
//! # Ground rules
//!
//! * **Store `clock` and `next` only while holding the lock**, because the wheel must agree with
//!   them. They are atomics so that other threads can *read* them without the lock.
//! * **Time decides who owns an entry.** An entry whose deadline is later than `clock` belongs to
//!   its timer. An entry at or before `clock` belongs to the driver. Both sides compare with the
//!   same clock under the same lock ([`admits`](Shard::admits)), so a timer uses its key only while
//!   its entry is certainly there, and dropping a timer that has fired does not touch the shard's
//!   entries. (A timer that is dropped after its entry became due can still be woken once,
//!   spuriously.)
//! * **A shard is closed by its clock.** The end of the driver sets `clock` to [`Tick::NEVER`]. From
//!   then on no deadline is later than the clock, so every operation is refused.
//! * **Every critical section is bounded.** It fires or cascades at most [`BATCH`] entries, and
//!   applies at most [`BATCH`] late cancels. It may also search for the next deadline, scan pages
//!   that give their memory back, copy the histogram of lag, or allocate a page of 32 KiB or the
//!   lists of a new level. Only copying a list takes longer: the keys of a slot (four bytes each), the
//!   late cancels (sixteen each), and the list of deferred lists (24 for each [`BATCH`] timers), when
//!   the list grows or gives memory back. Large memory is freed after the release.
//!
//! # Late cancels
//!
//! A task that was stolen drops its timer far from the timer's shard. Taking the lock there would
//! move the lock, the entry, its slot and its bitmap to another processor, and back again for the
//! next timer. So the timer's [`EntryRef`] is queued instead, and **a later holder of the lock
//! applies the ownership rule to it, as if the cancel came then**: the deadline in the `EntryRef`
//! is compared with the clock. Is the key still this timer's? While the cancel is queued, only
//! firing frees the entry, because the timer is idle. A pass moves the clock to the deadline before
//! it fires the entry. So if the deadline is after the clock, the entry has not fired, and the key
//! is the timer's. Otherwise the key may be another timer's, and the cancel is refused. A late
//! cancel therefore needs no acknowledgement, and late cancels may be applied in any order.
//!
//! * An entry is in the list at most once, because queueing its cancel makes the timer idle. The
//!   list is therefore no longer than the number of entries in the wheel, except for cancels that
//!   are queued while a pass is about to fire their entries.
//! * Most operations apply up to [`BATCH`] of them before they release the lock. Arming and moving a
//!   timer apply them last ([`tidy`](Shard::tidy)), because dropping the wakers runs user code, for
//!   which the alarm must not wait. An expiry pass first applies all that are queued when it reaches
//!   the shard. [`extend`](Shard::extend) applies none.
//! * A race remains: a cancel may be queued just after the holder of the lock has read the length
//!   of the list. It waits for the next operation that applies cancels, at the latest the pass at
//!   the timer's deadline.
//! * The waker of a cancelled timer stays in the wheel until its late cancel is applied. A task's
//!   waker keeps the task's memory and the handle of its runtime alive, but never the task's
//!   future.
//!
//! # The cached entry
//!
//! A worker usually runs one operation after another under a timeout: it cancels a timer and arms
//! the next. The next timer therefore stores its deadline and its waker in the entry of the former.
//! The entry changes slots only if its slot starts after the new deadline. Otherwise the wheel fires
//! or moves it when the clock reaches the earliest deadline of that slot.
//!
//! The cached entry belongs to no timer, so the ownership rule needs one addition: **every critical
//! section that moves the clock, or searches for the next deadline, removes the cached entry
//! first.** So it neither fires nor counts as the next deadline.

mod expiry;
mod operations;

use std::collections::VecDeque;
use std::mem;
use std::task::Waker;

use self::expiry::Deferred;
pub(super) use self::expiry::Pass;
pub(super) use self::operations::Reset;
use super::wakers::contain;
use crate::clock::{MILLISECOND, Tick};
use crate::metrics::lag_histogram::LagHistogram;
use crate::platform::{self, AtomicU64, AtomicUsize, Lock, LockGuard, Ordering};
use crate::settings::BATCH;
use crate::timing_wheel::raw::RawWheel;

/// Slots per level. More slots mean fewer levels, and a timer moves once for each level that it
/// goes down, each time at the cost of a cache miss. With 64 slots, timers would start one or two
/// levels higher. With 512, more entries would cascade together than a cache holds until they fire.
const SLOTS: usize = 256;
/// Maximum capacity that an empty list of late cancels keeps.
const KEPT: usize = 1_024;

/// How long before the shard's next deadline the check for cancelled timers begins (see `pass.rs`),
/// in nanoseconds. If all workers fall asleep before that time, no thread checks, and the alarm wakes
/// one of them for nothing.
pub(super) const SOON: u64 = 3 * MILLISECOND;

/// The entry of an armed timer: its key, and the tick at which it fires. These are two words, which
/// a call passes in registers.
#[derive(Clone, Copy)]
pub(super) struct EntryRef {
    pub(super) key: u32,
    pub(super) when: Tick,
}

/// The entry of an armed timer always has a waker, and the cached entry has none.
type Wheel = RawWheel<Option<Waker>, SLOTS>;

/// A shard of a driver.
///
/// The fields that its own worker writes, those that all threads read, and those that other workers
/// write are on different cache lines, and on different pairs of lines, because a processor may
/// fetch the two lines of a pair together.
#[repr(C, align(128))]
pub(crate) struct Shard {
    state: Lock<ShardState>,
    published: Published,
    late: Late,
}

/// The fields that every operation reads, without the lock. They are written when the earliest
/// deadline changes, by passes, and by late cancels.
#[derive(Default)]
#[repr(align(128))]
struct Published {
    /// Entries due by this tick belong to the driver. [`Tick::NEVER`] once the driver has shut
    /// down.
    clock: AtomicU64,
    /// Nothing in the wheel is due before this. A cancel does not raise it: only a search for the
    /// next deadline does. [`Tick::NEVER`] if that found nothing and no timer was armed since.
    next: AtomicU64,
    /// A timer with this deadline or a later one takes the fast path (see `near.rs`).
    /// [`Tick::NEVER`] if none does. Stored under the alarm's mutex, and by `close`, when the driver
    /// has no alarm any more.
    fast_path_from: AtomicU64,
    /// Length of the list of late cancels, stored under the lock of the list.
    late_cancels: AtomicUsize,
    /// Number of deferred timers, stored under the lock.
    deferred: AtomicUsize,
}

/// Cancels from other threads, and cancels that found the shard busy.
#[repr(align(128))]
struct Late(Lock<Vec<EntryRef>>);

/// The fields that the lock protects. With this order and this alignment, the wheel begins 40 bytes
/// after the start of a cache line, as [`RawWheel`] asks for.
#[repr(C, align(16))]
pub(super) struct ShardState {
    /// The key of the cached entry.
    cached: Option<u32>,
    /// Number of timers that have taken over a cached entry.
    reused: u64,
    /// Number of times that a pending timer was given another deadline.
    resets: u64,
    wheel: Wheel,
    /// The timers that passes have deferred (see `pass.rs`).
    deferred: VecDeque<Deferred>,
    /// The lag of all timers that fired.
    lag: LagHistogram,
}

impl ShardState {
    /// Adds a timer, in the cached entry if there is one. Returns the timer's key.
    #[inline(always)]
    fn put(&mut self, when: Tick, waker: Waker) -> u32 {
        let Some(cached) = self.cached.take() else {
            return self.wheel.insert(when.0, Some(waker));
        };
        self.reused += 1;
        // The cached entry has no waker, so `forget` leaks nothing. With `forget`, the compiler
        // emits no code that would drop a waker under the lock.
        let set = |old: &mut Option<Waker>| mem::forget(old.replace(waker));
        self.wheel.reschedule_lazily(cached, when.0, set);
        cached
    }

    fn remove_cached(&mut self) {
        if let Some(cached) = self.cached.take() {
            mem::forget(self.wheel.remove(cached));
        }
    }
}

/// A shard whose lock this thread holds.
pub(super) type Held<'a> = LockGuard<'a, ShardState>;

/// The published fields.
impl Shard {
    /// Creates a shard whose clock shows `now`, with memory for this many timers.
    pub(super) fn new(now: Tick, capacity: usize) -> Self {
        let mut wheel = Wheel::starting_at(now.0);
        wheel.reserve(capacity);
        let state = ShardState {
            cached: None,
            reused: 0,
            resets: 0,
            wheel,
            deferred: VecDeque::new(),
            lag: LagHistogram::default(),
        };
        let shard = Shard {
            state: Lock::new(state),
            published: Published::default(),
            late: Late(Lock::new(Vec::new())),
        };
        // These are stored, not initialized, because loom treats no initial value as sequentially
        // consistent. Without loom an initial value needs no order: it happens before every access,
        // so it precedes every store, and a sequentially consistent load that returns it comes
        // before every sequentially consistent store in the single total order.
        shard.move_clock(now);
        shard.store_next(Tick::NEVER);
        shard.publish_fast_path(Tick::NEVER);
        shard
    }

    #[inline]
    pub(crate) fn clock(&self) -> Tick {
        Tick(self.published.clock.load(Ordering::Acquire))
    }

    fn move_clock(&self, clock: Tick) {
        self.published.clock.store(clock.0, Ordering::Release);
    }

    #[inline]
    pub(crate) fn next(&self) -> Tick {
        Tick(self.published.next.load(Ordering::SeqCst))
    }

    /// Returns `true` if the shard's next timer is late, or due within [`SOON`]. The sum wraps, so
    /// that [`Tick::NEVER`] is never soon. (In the last milliseconds of the clock's range, nothing is.)
    #[inline]
    pub(super) fn is_due_soon(&self, now: Tick) -> bool {
        self.next().0 <= now.0.wrapping_add(SOON)
    }

    #[inline]
    pub(super) fn fast_path_from(&self) -> Tick {
        Tick(self.published.fast_path_from.load(Ordering::SeqCst))
    }

    /// Publishes from which deadline on a timer takes the fast path, if that is new.
    pub(super) fn publish_fast_path(&self, from: Tick) {
        let published = &self.published.fast_path_from;
        if self.fast_path_from() != from {
            published.store(from.0, Ordering::SeqCst);
        }
    }

    /// Returns `true` if the driver has shut down.
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.clock() == Tick::NEVER
    }

    /// Makes sure that `next` is not later than `when`. Call this under the lock.
    #[inline]
    fn lower_next(&self, when: Tick) {
        if when.0 < self.published.next.load(Ordering::Relaxed) {
            self.store_next(when);
        }
    }

    fn store_next(&self, next: Tick) {
        self.published.next.store(next.0, Ordering::SeqCst);
    }

    /// Returns the number of deferred timers.
    pub(super) fn deferred(&self) -> usize {
        self.published.deferred.load(Ordering::Relaxed)
    }

    /// Returns `true` if an entry with this deadline belongs to its timer, or would if it were armed
    /// now. Without the lock, only `false` is reliable, because the driver may take the entry at
    /// any moment. A closed shard admits no deadline.
    #[inline]
    pub(super) fn admits(&self, when: Tick) -> bool {
        when > self.clock()
    }
}

/// The lock, and late cancels.
impl Shard {
    #[inline]
    pub(super) fn try_lock(&self) -> Option<Held<'_>> {
        self.state.try_lock()
    }

    /// Applies all late cancels that are queued now, and then waits for the lock.
    pub(super) fn apply_late_cancels_and_lock(&self) -> Held<'_> {
        self.apply_late_cancels();
        platform::wait(&self.state)
    }

    /// Applies all late cancels that are queued now. This does not go on until the list is empty,
    /// because threads that drop many timers could then delay the timers that are due. It goes from
    /// the end to the start: removals by other threads move cancels only towards the start, so those
    /// still to apply stay before `end`.
    pub(super) fn apply_late_cancels(&self) {
        let mut end = self.late_cancels();
        while end > 0 {
            self.unlock_and_tidy(platform::wait(&self.state), end);
            end = end.saturating_sub(BATCH).min(self.late_cancels());
        }
    }

    /// Applies late cancels if any are queued, releases the lock, and frees the wheel's garbage.
    #[inline]
    fn unlock(&self, state: Held<'_>) {
        let queued = self.late_cancels();
        if queued != 0 || state.wheel.has_garbage() {
            self.unlock_and_tidy(state, queued);
        }
    }

    /// Applies the last [`BATCH`] of the first `end` late cancels, and releases the lock. After
    /// that, frees the memory and drops the wakers that are no longer needed.
    #[cold]
    #[inline(never)]
    fn unlock_and_tidy(&self, mut state: Held<'_>, end: usize) {
        let mut wakers = [const { None }; BATCH];
        let mut cancels = platform::wait(&self.late.0);
        let end = end.min(cancels.len());
        let start = end.saturating_sub(BATCH);
        let mut batch = [EntryRef {
            key: 0,
            when: Tick::ZERO,
        }; BATCH];
        let batch = &mut batch[..end - start];
        batch.copy_from_slice(&cancels[start..end]);
        // Cancels that were queued last fill the gap.
        let rest = cancels.len() - batch.len();
        cancels.copy_within(rest.max(end).., start);
        cancels.truncate(rest);
        self.published.late_cancels.store(rest, Ordering::Relaxed);
        let is_too_large = rest == 0 && cancels.capacity() > KEPT;
        let emptied = is_too_large.then(|| mem::take(&mut *cancels));
        drop(cancels);
        for (&entry, waker) in batch.iter().zip(&mut wakers) {
            *waker = self.cache_or_remove(&mut state, entry);
        }
        let garbage = state.wheel.take_garbage();
        drop(state);
        drop((emptied, garbage));
        // A task's waker may be the last reference to a runtime that has ended, and that runtime's
        // hooks own values of the user, so the drop runs user code.
        for waker in wakers.into_iter().flatten() {
            contain(|| drop(waker));
        }
    }

    /// Gives up the entry of a cancelled timer, if the shard [`admits`](Self::admits) the timer:
    /// caches the entry, or removes it if another is cached. Returns the timer's waker.
    #[inline(always)]
    fn cache_or_remove(&self, state: &mut ShardState, entry: EntryRef) -> Option<Waker> {
        if !self.admits(entry.when) {
            return None;
        }
        if state.cached.is_some() {
            return state.wheel.remove(entry.key);
        }
        state.cached = Some(entry.key);
        state.wheel.get_mut(entry.key).take()
    }

    #[inline]
    pub(super) fn late_cancels(&self) -> usize {
        self.published.late_cancels.load(Ordering::Relaxed)
    }

    /// Queues the cancel of a timer. Never waits for the lock of the shard, but may wait for that of
    /// the list.
    pub(super) fn cancel_later(&self, entry: EntryRef) {
        // Do not queue a cancel that would be refused: after a shutdown, nothing would empty the list.
        if !self.admits(entry.when) {
            return;
        }
        let mut cancels = platform::wait(&self.late.0);
        cancels.push(entry);
        let queued = cancels.len();
        self.published.late_cancels.store(queued, Ordering::Relaxed);
        drop(cancels);
        if queued >= BATCH {
            self.tidy();
        }
    }

    /// Applies late cancels if any are queued and the shard is free. Does nothing if there is only
    /// garbage.
    #[inline]
    pub(super) fn tidy(&self) {
        let queued = self.late_cancels();
        if queued != 0 {
            if let Some(state) = self.try_lock() {
                self.unlock_and_tidy(state, queued);
            }
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
