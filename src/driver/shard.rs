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
//!   most [`COLLECTED`] cancels, takes the spare out, and moves at most one chunk for each.
//! * **Nobody waits for a mass expiry.** Whoever registers tries for a few instructions,
//!   then takes another shard for that timer; a cancel goes into the queue. The driver, and
//!   who resets a timer, wait for one hold.
//! * **Generations.** A shard outlives the runtimes it serves, one after another. Every
//!   operation says for which generation it is meant and finds [`Closed`](Refused::Closed)
//!   once that one has ended.
//!
//! One race remains: a cancel may be queued just after the holder looked. It waits for the
//! next holder then. Its entry is still in the wheel, so a turn comes at its deadline.

mod entries;
mod service;
mod spare;

use std::task::Waker;

use self::spare::Spare;
use super::cancel_queue::{COLLECTED, CancelQueue, EntryRef};
use super::clock::Tick;
use super::sync::{self, AtomicU32, AtomicU64, Lock, LockGuard, Ordering};
use crate::metrics::LagHistogram;
use crate::metrics::MetricsSnapshot as Snapshot;
use crate::wheel::core::{Core, Garbage};

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
    pub(super) spare: Spare,
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
}

/// What the lock protects. In this order, so that a reset counts in the line of memory
/// that its lock has just been written in.
#[repr(C, align(128))]
struct ShardState {
    /// Pending timers that were given another deadline.
    resets: u64,
    /// Timers registered in the place of one that had been cancelled.
    reused: u64,
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
            },
            spare: Spare::new(),
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

    /// Takes out what is left in the spare.
    #[inline]
    fn clear_spare(&self, state: &mut ShardState) -> Option<Waker> {
        self.spare.take().and_then(|left| self.take(state, left))
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
        } else if self.has_come(entry.when) {
            Err(Refused::Due)
        } else {
            Ok(())
        }
    }

    /// Whether the shard's clock has come to this. To be asked under the lock.
    #[inline]
    fn has_come(&self, when: Tick) -> bool {
        when.0 <= self.published.clock.load(Ordering::Relaxed)
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
