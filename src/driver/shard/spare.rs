//! The spare: the timer that a shard's worker has cancelled last, left in place for its next
//! one.
//!
//! A task that stays on its worker wraps one operation after the other in a timeout: it
//! cancels a timer and registers the next one with the same waker, all day. So the cancelled
//! timer stays in the wheel, and the next one moves it to its own deadline: one lock in place
//! of two, and no waker is cloned or dropped. That is 64 ns in place of 101 for arming and
//! cancelling; 74, if the spare were filled under the shard's lock.
//!
//! # Ground rules
//!
//! * **One thread fills it**: the one that has claimed it. So filling takes neither a lock nor
//!   a read-modify-write. (A worker's index is no such right: two threads may have it for a
//!   moment, see `current.rs`.) A thread claims the spare of its own shard if nobody else has
//!   it, and gives it up when it claims another one, ends the driver, or ends itself.
//! * **Whoever has the shard's lock may empty it**: its thread's next timer, a turn, anybody
//!   who counts what is pending. `key` is stored last when it is filled, and tells whether it
//!   is.
//! * What is here is the timer's by the same rule as any other (see `shard.rs`): if its
//!   deadline has passed, or its driver has ended, there is nothing left to cancel. What was
//!   left, and another thread's claim, outlast the driver.
//! * Only timers of tokio's own tasks are left here: see `cancel_queue.rs`.

use std::cell::Cell;
use std::task::Waker;

use crate::driver::cancel_queue::EntryRef;
use crate::driver::clock::Tick;
use crate::driver::sync::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, thread_local};
use crate::driver::waker_id;

/// Not the key of an entry.
const EMPTY: u32 = u32::MAX;

/// On a line of memory of its own: its thread writes to it all the time.
#[repr(align(128))]
pub(in crate::driver) struct Spare {
    is_claimed: AtomicBool,
    key: AtomicU32,
    generation: AtomicU32,
    when: AtomicU64,
    /// The data pointer of the task's waker that the entry holds.
    waker: AtomicUsize,
}

thread_local! {
    static CLAIM: Claim = const { Claim(Cell::new(None)) };
}

/// The spare that this thread may fill.
struct Claim(Cell<Option<&'static Spare>>);

impl Claim {
    fn set(&self, spare: Option<&'static Spare>) {
        if let Some(old) = self.0.replace(spare) {
            // Release: what this thread has written there comes before what the next writes.
            old.is_claimed.store(false, Ordering::Release);
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.set(None);
    }
}

impl Spare {
    pub(super) fn new() -> Self {
        Spare {
            is_claimed: AtomicBool::new(false),
            key: AtomicU32::new(EMPTY),
            generation: AtomicU32::new(0),
            when: AtomicU64::new(0),
            waker: AtomicUsize::new(0),
        }
    }

    /// Whether this thread may fill it.
    #[inline]
    pub(in crate::driver) fn is_mine(&self) -> bool {
        let is_this = |claim: &Claim| claim.0.get().is_some_and(|mine| std::ptr::eq(mine, self));
        // A thread that is about to end has none.
        CLAIM.try_with(is_this).unwrap_or(false)
    }

    /// Claims it for this thread, whose own shard this is, if nobody else has.
    #[cold]
    pub(in crate::driver) fn claim(&'static self) -> bool {
        let claim = |claim: &Claim| {
            let free = !self.is_claimed.swap(true, Ordering::Acquire);
            if free {
                claim.set(Some(self));
            }
            free
        };
        !self.is_claimed.load(Ordering::Relaxed) && CLAIM.try_with(claim).unwrap_or(false)
    }

    /// Gives it up, if this thread has claimed it.
    pub(in crate::driver) fn give_up(&self) {
        if self.is_mine() {
            let _ = CLAIM.try_with(|claim| claim.set(None));
        }
    }

    /// Leaves a cancelled timer here, unless there is one already. For its thread only.
    #[inline]
    pub(in crate::driver) fn leave(&self, entry: EntryRef, waker: usize) -> bool {
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

    /// Whether there is a timer here with this task's waker. For its thread only; under the
    /// shard's lock it may turn out to have gone.
    ///
    /// The entry keeps the task's memory, so its address is no other task's.
    #[inline]
    pub(in crate::driver) fn suits(&self, waker: &Waker) -> bool {
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
