//! Cancels that come from other workers than the shard's own.
//!
//! A task that was stolen drops its timer far from the shard that holds it. Taking the
//! shard's lock there would move its lock, the entry, its slot and its bitmap to another
//! processor, and back again for the next timer. So the timer's [`EntryRef`] goes into
//! the shard's [`CancelQueue`], and whoever holds the shard next collects it.
//!
//! # Ground rules
//!
//! * `entries` and every store to `waiting` happen under the queue's own lock. It is held
//!   for a few instructions, no other lock is taken under it, and an [`EntryRef`] owns
//!   nothing, so no foreign code runs there. `waiting` is read without the lock, by whoever
//!   holds the shard. It may miss a cancel that comes at that moment; the next holder finds
//!   it, and the turn at the timer's own deadline at the latest.
//! * **The queue is bounded.** Whoever makes it longer than [`MOST_WAITING`] collects.
//! * What waits here is the timer's by the same rule as any other (see `shard.rs`): if its
//!   deadline has passed, or its driver has ended, there is nothing left to cancel.
//! * Only timers of tokio's own tasks wait here. Keeping a task's waker for a while keeps
//!   its memory, never its future, and runs nobody's code when it is dropped.

use super::clock::Tick;
use super::sync::{AtomicUsize, Lock, Ordering, wait};

/// Cancels that wait in one queue before the one who adds another collects them.
pub(super) const MOST_WAITING: usize = if cfg!(all(test, loom)) { 1 } else { 32 };
/// Cancels that are collected in one hold of a shard.
pub(super) const COLLECTED: usize = if cfg!(all(test, loom)) { 1 } else { 16 };

/// A registered timer, as whoever cancels it knows it.
#[derive(Clone, Copy)]
pub(super) struct EntryRef {
    pub(super) key: u32,
    pub(super) generation: u32,
    pub(super) when: Tick,
}

/// The cancels that wait for a shard's next holder. On a line of memory of its own: other
/// threads write to it, while the shard's own thread reads it.
#[repr(align(128))]
pub(super) struct CancelQueue {
    waiting: AtomicUsize,
    entries: Lock<Vec<EntryRef>>,
}

impl CancelQueue {
    pub(super) fn new() -> Self {
        CancelQueue {
            waiting: AtomicUsize::new(0),
            entries: Lock::new(Vec::new()),
        }
    }

    /// Whether a cancel waits here, as far as can be said without the lock.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.load(Ordering::Acquire) == 0
    }

    /// Whether so many wait that whoever has added one is to collect.
    pub(super) fn is_full(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > MOST_WAITING
    }

    pub(super) fn push(&self, entry: EntryRef) {
        let mut entries = wait(&self.entries);
        entries.push(entry);
        self.waiting.store(entries.len(), Ordering::Release);
    }

    /// Takes up to [`COLLECTED`] out, the last ones first.
    pub(super) fn collect(&self) -> [Option<EntryRef>; COLLECTED] {
        let mut collected = [None; COLLECTED];
        let mut entries = wait(&self.entries);
        for place in &mut collected {
            *place = entries.pop();
            if place.is_none() {
                break;
            }
        }
        self.waiting.store(entries.len(), Ordering::Release);
        collected
    }

    /// Forgets all: the driver that they were meant for has ended.
    pub(super) fn clear(&self) {
        wait(&self.entries).clear();
        self.waiting.store(0, Ordering::Release);
    }
}
