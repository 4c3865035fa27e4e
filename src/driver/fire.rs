//! Firing what is due: a turn of the driver, a bounded number of timers per hold of a lock.
//!
//! # Ground rules
//!
//! * Wakers are woken with no lock held. One that panics takes nothing else down: the
//!   others are woken, and the driver goes on.
//! * A turn inside tokio's own delays tokio's I/O, so on a multi-thread runtime it ends
//!   after [`PER_TURN`] timers. What is left goes to turns of the driver task. A
//!   current-thread runtime fires everything, as tokio does.
//! * A turn may outlive its runtime, in a waker that takes its time, and the shards may
//!   serve another one by then. Every hold asks for the generation; the rest of the turn
//!   is void then.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Waker;

use super::clock::Tick;
use super::shard::Shard;
use crate::wheel::core::Progress;

/// Timers, give or take one hold, that a turn fires.
pub(super) const PER_TURN: usize = if cfg!(all(test, loom)) { 1 } else { 1024 };

/// A turn that is under way.
pub(super) struct Turn {
    generation: u32,
    /// What is due by then is fired.
    now: Tick,
    hold: usize,
    /// Timers that may still be fired, give or take one hold.
    left: usize,
    /// Nothing was due so far.
    pub(super) is_idle: bool,
    batch: Vec<Waker>,
}

impl Turn {
    /// Fires what is due at `now`, at most `hold` timers per hold, and about `limit` in all.
    pub(super) fn new(generation: u32, now: Tick, hold: usize, limit: usize) -> Self {
        Turn {
            generation,
            now,
            hold,
            left: limit,
            is_idle: true,
            batch: Vec::with_capacity(16),
        }
    }

    /// `false` when the limit was reached before all that is due in this shard had been
    /// fired, and all cancels carried out.
    pub(super) fn visit(&mut self, shard: &Shard, clock: impl Fn() -> Tick) -> bool {
        while shard.next() <= self.now || shard.has_cancels() {
            let Some(progress) = self.expire(shard, &clock) else {
                return true;
            };
            if progress.is_caught_up() && !shard.has_cancels() {
                return true;
            }
            self.left = self.left.saturating_sub(self.hold);
            if self.left == 0 {
                return false;
            }
        }
        true
    }

    /// One hold of a shard's lock; `None` when the driver has ended.
    fn expire(&mut self, shard: &Shard, clock: impl Fn() -> Tick) -> Option<Progress> {
        // The clock anew each time: a timer that fires late in a long turn is late by that, too.
        let (seen, batch) = (clock(), &mut self.batch);
        let progress = shard.expire(self.generation, self.now, seen, self.hold, batch)?;
        self.is_idle &= batch.is_empty();
        batch.drain(..).for_each(wake);
        Some(progress)
    }
}

/// Runs user code, with no lock held. It may panic; and the payload of that
/// panic, when it is dropped, may panic again. None of it is the affair of the other timers,
/// nor of the thread that happens to run it.
pub(super) fn wake(waker: Waker) {
    // The hook has reported the panic; it can be returned to no caller here.
    let Err(payload) = catch_unwind(AssertUnwindSafe(|| waker.wake())) else {
        return;
    };
    if let Err(worse) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        mem::forget(worse);
    }
}
