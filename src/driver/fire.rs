//! Firing due timers: a turn of the driver, a bounded number of timers per hold of a lock.
//!
//! # Ground rules
//!
//! * Wakers are woken with no lock held. A waker that panics takes nothing else down: the other
//!   wakers are woken, and the driver goes on.
//! * A turn may outlive its runtime, in a slow waker, and the shards may serve another runtime by
//!   then. Every hold checks the generation; the rest of such a turn does nothing.

use std::task::Waker;

use super::shard::Shard;
use super::wakers::wake;
use crate::clock::Tick;
use crate::settings::{Generation, HOLD};
use crate::wheel::core::Progress;

/// Timers, give or take a hold, that a turn fires, however long they take.
pub(super) const PER_TURN: usize = if cfg!(all(test, loom)) { 1 } else { 1024 };

/// A turn that is under way.
pub(super) struct Turn {
    generation: Generation,
    /// Timers that are due by then are fired.
    now: Tick,
    /// Nanoseconds after which the turn ends, if it has no more timers [`left`](Self::left).
    takes: u64,
    /// Timers that are fired however long that takes, give or take a hold.
    left: usize,
    /// The time, read before the last step.
    seen: Tick,
    /// Nothing was due so far.
    pub(super) is_idle: bool,
    batch: Vec<Waker>,
}

impl Turn {
    /// Fires the timers that are due at `now`, at most [`HOLD`] timers per hold: about [`PER_TURN`],
    /// and then, until it has taken so many nanoseconds, more.
    pub(super) fn new(generation: Generation, now: Tick, takes: u64) -> Self {
        Turn {
            generation,
            now,
            takes,
            left: PER_TURN,
            seen: now,
            is_idle: true,
            batch: Vec::with_capacity(16),
        }
    }

    /// `false` when the turn was over before all due timers of this shard had been fired, and all its
    /// changes carried out.
    pub(super) fn visit(&mut self, shard: &Shard, clock: impl Fn() -> Tick) -> bool {
        while shard.next() <= self.now || shard.has_late_cancels() {
            let Some(progress) = self.expire(shard, &clock) else {
                return true;
            };
            if progress.is_caught_up() && !shard.has_late_cancels() {
                return true;
            }
            self.left = self.left.saturating_sub(HOLD);
            if self.left == 0 && self.seen.0.saturating_sub(self.now.0) >= self.takes {
                return false;
            }
        }
        true
    }

    /// One step: see [`Shard::expire`]. `None` when the driver has ended.
    fn expire(&mut self, shard: &Shard, clock: impl Fn() -> Tick) -> Option<Progress> {
        // The clock is read again once a waker has been woken: a timer that fires late in a long
        // turn is late by that, too.
        if !self.is_idle || self.left == 0 {
            self.seen = clock();
        }
        let batch = &mut self.batch;
        let progress = shard.expire(self.generation, self.now, self.seen, batch)?;
        self.is_idle &= batch.is_empty();
        batch.drain(..).for_each(wake);
        Some(progress)
    }
}
