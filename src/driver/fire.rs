//! Firing due timers: a turn of the driver, a bounded number of timers per hold of a lock.
//!
//! # Ground rules
//!
//! * Wakers are woken with no lock held. A waker that panics takes nothing else down: the other
//!   wakers are woken, and the driver goes on.
//! * A turn may outlive its runtime, in a slow waker, and the shards may serve another runtime by
//!   then. Every hold checks the generation; the rest of such a turn does nothing.

use std::task::Waker;

use super::clock::Tick;
use super::settings::{Generation, HOLD};
use super::shard::Shard;
use super::wakers::wake;
use crate::wheel::core::Progress;

/// A turn that is under way.
pub(super) struct Turn {
    generation: Generation,
    /// Timers that are due by then are fired.
    now: Tick,
    /// Timers that may still be fired, give or take a hold.
    left: usize,
    /// Nothing was due so far.
    pub(super) is_idle: bool,
    batch: Vec<Waker>,
}

impl Turn {
    /// Fires the timers that are due at `now`, at most [`HOLD`] timers per hold, and about `limit` in
    /// all.
    pub(super) fn new(generation: Generation, now: Tick, limit: usize) -> Self {
        Turn {
            generation,
            now,
            left: limit,
            is_idle: true,
            batch: Vec::with_capacity(16),
        }
    }

    /// `false` when the limit was reached before all due timers of this shard had been fired, and
    /// all its changes carried out.
    pub(super) fn visit(&mut self, shard: &Shard, clock: impl Fn() -> Tick) -> bool {
        while shard.next() <= self.now || shard.has_changes() {
            let Some(progress) = self.expire(shard, &clock) else {
                return true;
            };
            if progress.is_caught_up() && !shard.has_changes() {
                return true;
            }
            self.left = self.left.saturating_sub(HOLD);
            if self.left == 0 {
                return false;
            }
        }
        true
    }

    /// One step: see [`Shard::expire`]. `None` when the driver has ended.
    fn expire(&mut self, shard: &Shard, clock: impl Fn() -> Tick) -> Option<Progress> {
        // The clock is read again once a waker has been woken: a timer that fires late in a long
        // turn is late by that, too.
        let seen = if self.is_idle { self.now } else { clock() };
        let batch = &mut self.batch;
        let progress = shard.expire(self.generation, self.now, seen, batch)?;
        self.is_idle &= batch.is_empty();
        batch.drain(..).for_each(wake);
        Some(progress)
    }
}
