//! Firing due timers: a turn of the driver, a bounded number of timers per hold of a lock.
//!
//! # Ground rules
//!
//! * Wakers are woken with no lock held. A waker that panics takes nothing else down: the other
//!   wakers are woken, and the driver goes on.
//! * A turn inside tokio's own delays tokio's I/O, so on a multi-thread runtime such a turn ends
//!   after [`PER_TURN`] timers. The rest goes to turns of the driver task. On a current-thread runtime
//!   the turn fires all due timers, as tokio does.
//! * A turn may outlive its runtime, in a slow waker, and the shards may serve another runtime by
//!   then. Every hold checks the generation; the rest of such a turn does nothing.

use std::task::Waker;

use super::clock::Tick;
use super::shard::Shard;
use super::wakers::wake;
use crate::wheel::core::Progress;

/// Timers, give or take a hold, that a turn fires. More, if the turn has waited for long: see
/// `Driver::poll_task`.
pub(super) const PER_TURN: usize = if cfg!(all(test, loom)) { 1 } else { 1024 };

/// A turn that is under way.
pub(super) struct Turn {
    generation: u32,
    /// Timers that are due by then are fired.
    now: Tick,
    hold: usize,
    /// Timers that may still be fired, give or take a hold.
    left: usize,
    /// Nothing was due so far.
    pub(super) is_idle: bool,
    batch: Vec<Waker>,
}

impl Turn {
    /// Fires the timers that are due at `now`, at most `hold` timers per hold, and about `limit` in
    /// all.
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

    /// `false` when the limit was reached before all due timers of this shard had been fired, and
    /// all its cancels carried out.
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

    /// A single hold of a shard's lock; `None` when the driver has ended.
    fn expire(&mut self, shard: &Shard, clock: impl Fn() -> Tick) -> Option<Progress> {
        // The clock is read again once a waker has been woken: a timer that fires late in a long
        // turn is late by that, too.
        let seen = if self.is_idle { self.now } else { clock() };
        let batch = &mut self.batch;
        let progress = shard.expire(self.generation, self.now, seen, self.hold, batch)?;
        self.is_idle &= batch.is_empty();
        batch.drain(..).for_each(wake);
        Some(progress)
    }
}
