//! Cancels that come from other workers than the shard's own, or while the shard is busy.
//!
//! A task that was stolen drops its timer far from the timer's shard. Taking the shard's lock there
//! would move the lock, the entry, its slot and its bitmap to another processor, and back again for
//! the next timer. So the timer's [`EntryRef`] goes into the shard's [`CancelQueue`], and the next
//! holder of the shard's lock removes the entry, and drops the waker after the release.
//!
//! # Ground rules
//!
//! * The entries, and every store to `waiting`, happen under the queue's own lock. The lock is held
//!   for a few instructions, no other lock is taken meanwhile, and an [`EntryRef`] owns nothing, so
//!   no foreign code runs there.
//! * `waiting` is read without the queue's lock, by each holder of the shard. The holder may miss a
//!   cancel that comes at that moment. The next holder finds that cancel, or at the latest a turn
//!   at the timer's own deadline.
//! * **The queue is bounded.** A thread that finds the queue full carries out the cancels first, if
//!   no other thread holds the shard; otherwise that thread does so before its release.
//! * A queued entry is the timer's by the same rule as any other entry (see `shard.rs`): once its
//!   deadline has passed, or its driver has ended, there is nothing left to cancel.
//! * Any waker may wait here. The waker of a task keeps the memory of the task and its runtime's
//!   handle, never its future.

use super::clock::Tick;
use super::settings::{Generation, HOLD};
use super::sync::{AtomicUsize, Lock, Ordering, wait};

/// Cancels that a queue holds: a hold of the shard carries out all of them.
pub(super) const CAPACITY: usize = HOLD;

/// A registered timer: its entry and its deadline. Two words, which a call passes in registers.
#[derive(Clone, Copy)]
pub(super) struct EntryRef {
    pub(super) when: Tick,
    /// The generation, and in the lower half the key.
    place: u64,
}

impl EntryRef {
    const NONE: Self = EntryRef::new(0, 0, Tick::ZERO);

    #[inline]
    pub(super) const fn new(key: u32, generation: Generation, when: Tick) -> Self {
        let place = (generation as u64) << 32 | key as u64;
        EntryRef { when, place }
    }

    #[inline]
    pub(super) fn key(self) -> u32 {
        self.place as u32
    }

    #[inline]
    pub(super) fn generation(self) -> Generation {
        (self.place >> 32) as Generation
    }
}

/// The cancels that wait for a shard's next holder: as many, from the first place on, as the
/// shard's `waiting` says. On lines of memory of their own, written by other threads than the
/// shard's.
#[repr(align(128))]
pub(super) struct CancelQueue(Lock<[EntryRef; CAPACITY]>);

impl CancelQueue {
    pub(super) fn new() -> Self {
        CancelQueue(Lock::new([EntryRef::NONE; CAPACITY]))
    }

    /// Adds a cancel, and counts the cancel in `waiting`. Returns false if the queue is full.
    pub(super) fn push(&self, entry: EntryRef, waiting: &AtomicUsize) -> bool {
        let mut places = wait(&self.0);
        let len = waiting.load(Ordering::Relaxed);
        let Some(place) = places.get_mut(len) else {
            return false;
        };
        *place = entry;
        waiting.store(len + 1, Ordering::Release);
        true
    }

    /// Takes all cancels: so many of the entries, from the first on.
    pub(super) fn take(&self, waiting: &AtomicUsize) -> ([EntryRef; CAPACITY], usize) {
        let places = wait(&self.0);
        let len = waiting.load(Ordering::Relaxed);
        waiting.store(0, Ordering::Release);
        (*places, len)
    }
}
