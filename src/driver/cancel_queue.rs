//! Cancels that are not carried out at once: those that come from other workers than
//! the shard's own, and the last one of the shard's own thread.
//!
//! A task that was stolen drops its timer far from the shard that holds it. Taking the
//! shard's lock there would move its lock, the entry, its slot and its bitmap to another
//! processor, and back again for the next timer. So the timer's [`EntryRef`] goes into
//! the shard's [`CancelQueue`], and whoever holds the shard next collects it.
//!
//! A task that stays wraps one operation after the other in a timeout: it cancels a timer
//! and registers the next one with the same waker, all day. So the shard's own thread
//! leaves one cancelled timer where it is, noted in its [`Spare`], and its next timer
//! moves that entry to the new deadline: one lock in place of two, and no waker cloned.
//!
//! # Ground rules
//!
//! * **The queue.** `entries` and every store to `waiting` happen under the queue's own
//!   lock. It is held for a few instructions, no other lock is taken under it, and an
//!   [`EntryRef`] owns nothing, so no foreign code runs there. `waiting` is read without
//!   the lock, by whoever holds the shard. It may miss a cancel that comes at that moment;
//!   the next holder finds it, and the turn at the timer's own deadline at the latest.
//! * **The queue is bounded.** Whoever makes it longer than [`MOST_WAITING`] collects.
//! * **A spare is filled by one thread**: the one that owns it, and only while it is
//!   attached to that thread's shard. Filling takes neither a lock nor a read-modify-write.
//! * **A spare is emptied under the lock of the shard that it is attached to**, by its
//!   thread's next timer, by a turn, or by anybody who counts what is pending. `key` is
//!   stored last when it is filled, and tells whether it is.
//! * What waits in either is the timer's by the same rule as any other (see `shard.rs`): if
//!   its deadline has passed, or its driver has ended, there is nothing left to cancel.
//! * Only wakers of tokio's own tasks wait in either. Keeping one for a while keeps a
//!   task's memory, never its future, and runs nobody's code when it is dropped.

use super::clock::Tick;
use super::sync::{AtomicU32, AtomicU64, AtomicUsize, Lock, Ordering, wait};
use super::waker_id;

use std::task::Waker;

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

/// Not the key of an entry.
const EMPTY: u32 = u32::MAX;

/// The timer that a thread has cancelled last, left in place for its next one. It belongs
/// to the thread; while that is a shard's own thread, it is attached to the shard.
#[repr(align(128))]
pub(super) struct Spare {
    key: AtomicU32,
    generation: AtomicU32,
    when: AtomicU64,
    /// The data pointer of the task's waker that the entry holds.
    waker: AtomicUsize,
}

impl Spare {
    pub(super) fn new() -> Self {
        Spare {
            key: AtomicU32::new(EMPTY),
            generation: AtomicU32::new(0),
            when: AtomicU64::new(0),
            waker: AtomicUsize::new(0),
        }
    }

    /// Leaves a cancelled timer here, unless there is one already. For the owner only.
    #[inline]
    pub(super) fn leave(&self, entry: EntryRef, waker: usize) -> bool {
        // Acquire: whoever emptied this has read what is now overwritten.
        if self.key.load(Ordering::Acquire) != EMPTY {
            return false;
        }
        self.generation.store(entry.generation, Ordering::Relaxed);
        self.when.store(entry.when.0, Ordering::Relaxed);
        self.waker.store(waker, Ordering::Relaxed);
        self.key.store(entry.key, Ordering::Release);
        true
    }

    /// Whether there is a timer here with this task's waker. For the owner only; under the
    /// shard's lock it may turn out to have gone.
    ///
    /// The entry keeps the task's memory, so its address is no other task's.
    #[inline]
    pub(super) fn suits(&self, waker: &Waker) -> bool {
        self.key.load(Ordering::Relaxed) != EMPTY
            && self.waker.load(Ordering::Relaxed) == waker.data() as usize
            && waker_id::is_of_a_task(waker)
    }

    /// Takes what is here, under the shard's lock.
    #[inline]
    pub(super) fn take(&self) -> Option<EntryRef> {
        let key = self.key.load(Ordering::Acquire);
        if key == EMPTY {
            return None;
        }
        let entry = EntryRef {
            key,
            generation: self.generation.load(Ordering::Relaxed),
            when: Tick(self.when.load(Ordering::Relaxed)),
        };
        self.key.store(EMPTY, Ordering::Release);
        Some(entry)
    }
}
