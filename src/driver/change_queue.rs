//! Changes that come from other workers than the shard's own, or while the shard is busy: cancels
//! and resets.
//!
//! A task that was stolen drops its timer far from the timer's shard. Taking the shard's lock there
//! would move the lock, the entry, its slot and its bitmap to another processor, and back again for
//! the next timer. So the timer's [`EntryRef`] goes into the shard's [`ChangeQueue`]. The next thread
//! that locks the shard carries out what waits before anything else, and drops the wakers of
//! cancelled timers after the release.
//!
//! # Ground rules
//!
//! * The changes, and every store to `waiting`, happen under the queue's own lock. The lock is held
//!   for a few instructions, no other lock is taken meanwhile, and a [`Change`] owns nothing, so
//!   no foreign code runs there.
//! * **A change that was accepted is carried out**, unless the driver ends before. A change is accepted
//!   under the queue's lock, and only if its entry is still the timer's, and the new deadline has not
//!   come: see `shard.rs`. A turn takes the changes and moves the shard's clock under that lock, and
//!   makes the changes before it fires anything. So no entry is handed to the driver before its change
//!   was made. The end of a driver empties the queue under that lock.
//! * **An earlier deadline is announced** with its change: the shard's `next` is made no later than that
//!   under the queue's lock, and is made later only under that lock and while no change waits.
//! * `waiting` is read without the queue's lock, by each thread that locks the shard. That thread may
//!   miss a change that comes at that moment. The next finds the change, or at the latest a turn
//!   at the timer's own deadline. A thread that has queued a change of a timer does not miss it when
//!   it changes that timer again.
//! * **The queue is bounded.** A thread that finds the queue full carries out the changes first, if
//!   no other thread holds the shard; otherwise it waits for that thread's release.
//! * Any waker may wait here. The waker of a task keeps the memory of the task and its runtime's
//!   handle, never its future.

use crate::clock::Tick;
use crate::settings::{Generation, HOLD};
use crate::sync::{AtomicUsize, Lock, Ordering, wait};

/// Changes that a queue holds: a hold of the shard carries out all of them.
pub(super) const CAPACITY: usize = HOLD;

/// A registered timer: its entry and its deadline. Two words, which a call passes in registers.
#[derive(Clone, Copy)]
pub(super) struct EntryRef {
    pub(super) key: u32,
    pub(super) generation: Generation,
    pub(super) when: Tick,
}

impl EntryRef {
    #[inline]
    pub(super) const fn new(key: u32, generation: Generation, when: Tick) -> Self {
        EntryRef {
            key,
            generation,
            when,
        }
    }
}

/// Why a shard refuses an operation.
pub(super) enum Refused {
    /// The deadline is not after the shard's clock: the entry is, or would be, the driver's.
    Due,
    /// The driver has ended.
    Closed,
}

/// What is to be done with an entry.
#[derive(Clone, Copy)]
pub(super) struct Change {
    pub(super) entry: EntryRef,
    /// The timer's new deadline; [`CANCELLED`] where the timer is gone.
    pub(super) deadline: Tick,
}

/// So many changes, from the first on.
pub(super) type Changes = ([Change; CAPACITY], usize);

/// Later than every deadline.
pub(super) const CANCELLED: Tick = Tick::NEVER;

/// The changes that wait for the next thread that locks the shard: as many, from the first place on,
/// as the shard's `waiting` says, the oldest first. On lines of memory of their own, written by other
/// threads than the shard's.
#[repr(align(128))]
pub(super) struct ChangeQueue(Lock<[Change; CAPACITY]>);

impl ChangeQueue {
    pub(super) fn new() -> Self {
        let (entry, deadline) = (EntryRef::new(0, 0, Tick::ZERO), CANCELLED);
        ChangeQueue(Lock::new([Change { entry, deadline }; CAPACITY]))
    }

    /// Adds a change if `accept` allows that, and counts it in `waiting`. `Ok(false)` if the queue is
    /// full.
    pub(super) fn push(
        &self,
        change: Change,
        waiting: &AtomicUsize,
        accept: impl FnOnce() -> Result<(), Refused>,
    ) -> Result<bool, Refused> {
        let mut places = wait(&self.0);
        accept()?;
        let len = waiting.load(Ordering::Relaxed);
        let Some(place) = places.get_mut(len) else {
            return Ok(false);
        };
        *place = change;
        waiting.store(len + 1, Ordering::Release);
        Ok(true)
    }

    /// Takes all changes; `None` if there are none. Those that come later find what `then` does.
    pub(super) fn take(&self, waiting: &AtomicUsize, then: impl FnOnce()) -> Option<Changes> {
        let places = wait(&self.0);
        let len = waiting.load(Ordering::Relaxed);
        waiting.store(0, Ordering::Release);
        then();
        (len > 0).then(|| (*places, len))
    }

    /// Does `this` if no change waits. None comes meanwhile.
    pub(super) fn if_none_waits(&self, waiting: &AtomicUsize, this: impl FnOnce()) {
        let _places = wait(&self.0);
        if waiting.load(Ordering::Relaxed) == 0 {
            this();
        }
    }
}
