//! A thread's spare: a timer that it has cancelled, left where it was for the
//! thread's next one. While one is there, others are cancelled as ever.
//!
//! A task that wraps every operation in a timeout cancels a timer, and registers
//! the next one with the same waker, all day. Done one by one that is two locks,
//! a waker cloned and a waker dropped: four read-modify-writes. Left in place, the
//! cancelled entry only has to be moved to the next deadline: one lock.
//!
//! # Ground rules
//!
//! * **One thread fills a spare**: the one that has claimed it, which it does for
//!   its usual shard, and gives it back when it ends or moves. Filling takes
//!   neither a lock nor a read-modify-write, so two at it would lose a cancel.
//! * **A spare is emptied under its shard's lock only**, by its thread's next
//!   timer, by a turn, or by anybody who counts what is pending. `key` is stored
//!   last when it is filled, and is what tells whether it is.
//! * What is left is the timer's by the same rule as any other (see `shard.rs`):
//!   if its deadline has passed, or its generation has ended, it has gone.
//! * Only the wakers of tokio's own tasks are left. Keeping one for a while keeps
//!   a task's memory, never its future, and runs nobody's code when it is dropped.
//!   The thread's next timer in this shard uses or drops it; so does the next
//!   turn, which comes by the timer's own deadline at the latest; and so does the
//!   end of the driver. (In a task that arms timers of another runtime than its
//!   own, by `enter`, its runtime's memory may be kept as long.)

use std::cell::Cell;
use std::task::Waker;

use super::Home;
use super::clock::Tick;
use super::mail::Letter;
use super::shard::Shard;
use super::sync::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, thread_local};
use super::vtable;

/// Threads that one shard has spares for; usually one uses it, or two.
pub(super) const SPARES: usize = if cfg!(all(test, loom)) { 1 } else { 4 };
/// Not the key of an entry.
const EMPTY: u32 = u32::MAX;

/// Aligned so that threads which share a shard do not write to the same line.
#[repr(align(64))]
pub(crate) struct Spare {
    key: AtomicU32,
    generation: AtomicU32,
    when: AtomicU64,
    /// The data pointer of the task's waker that the entry holds.
    waker: AtomicUsize,
    claimed: AtomicBool,
}

impl Spare {
    pub(super) fn new() -> Self {
        Spare {
            key: AtomicU32::new(EMPTY),
            generation: AtomicU32::new(0),
            when: AtomicU64::new(0),
            waker: AtomicUsize::new(0),
            claimed: AtomicBool::new(false),
        }
    }

    /// Leaves a cancelled timer here, unless there is one already. For the thread
    /// that has claimed this.
    #[inline]
    pub(super) fn leave(&self, timer: Letter, waker: usize) -> bool {
        // Acquire: whoever emptied this has read what is now overwritten.
        if self.key.load(Ordering::Acquire) != EMPTY {
            return false;
        }
        self.generation.store(timer.generation, Ordering::Relaxed);
        self.when.store(timer.when.0, Ordering::Relaxed);
        self.waker.store(waker, Ordering::Relaxed);
        self.key.store(timer.key, Ordering::Release);
        true
    }

    /// Whether there is a timer here with this task's waker. For the thread that
    /// has claimed this; under the lock it may turn out to have gone.
    ///
    /// The entry keeps the task's memory, so its address is no other task's.
    #[inline]
    pub(crate) fn suits(&self, waker: &Waker) -> bool {
        self.key.load(Ordering::Relaxed) != EMPTY
            && self.waker.load(Ordering::Relaxed) == waker.data() as usize
            && vtable::is_of_a_task(waker)
    }

    /// Whether nothing is here, as far as can be said without the lock.
    pub(super) fn is_empty(&self) -> bool {
        self.key.load(Ordering::Relaxed) == EMPTY
    }

    /// What is here; to be asked under the shard's lock.
    #[inline]
    pub(super) fn peek(&self) -> Option<Letter> {
        let key = self.key.load(Ordering::Acquire);
        (key != EMPTY).then(|| Letter {
            key,
            when: Tick(self.when.load(Ordering::Relaxed)),
            generation: self.generation.load(Ordering::Relaxed),
        })
    }

    /// Takes what is here, under the shard's lock.
    #[inline]
    pub(super) fn take(&self) -> Option<Letter> {
        let timer = self.peek();
        if timer.is_some() {
            self.key.store(EMPTY, Ordering::Release);
        }
        timer
    }

    fn claim(&self) -> bool {
        !self.claimed.swap(true, Ordering::Acquire)
    }

    /// Gives the claim back; what has been left is found by others.
    fn release(&self) {
        self.claimed.store(false, Ordering::Release);
    }
}

thread_local! {
    /// The spare that this thread has claimed, and the shard it is one of.
    static MINE: Cell<Option<(&'static Shard, &'static Spare)>> = const { Cell::new(None) };
}

std::thread_local! {
    static CLAIM: Claim = const { Claim };
}

/// Gives a thread's claim back when the thread ends.
struct Claim;

impl Drop for Claim {
    fn drop(&mut self) {
        give_back();
    }
}

/// The spare of this thread, if it has one in this shard.
#[inline]
pub(crate) fn mine(shard: &Shard) -> Option<&'static Spare> {
    let (of, spare) = MINE.with(Cell::get)?;
    std::ptr::eq(of, shard).then_some(spare)
}

/// Claims a spare for this thread in the shard that it uses from now on.
pub(super) fn claim(home: &'static Home) {
    // A thread that is about to end would never give it back.
    match CLAIM.try_with(|_| ()) {
        Ok(()) => take_over(home),
        Err(_) => give_back(),
    }
}

/// The same for a thread that gives it back by itself.
pub(super) fn take_over(home: &'static Home) {
    give_back();
    let shard = &home.shard;
    let free = shard.spares().iter().find(|spare| spare.claim());
    MINE.with(|mine| mine.set(free.map(|spare| (shard, spare))));
}

fn give_back() {
    if let Some((_, spare)) = MINE.with(Cell::take) {
        spare.release();
    }
}
