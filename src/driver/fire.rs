//! Firing what is due: a turn of the driver, a bounded number of timers per hold of a lock.
//!
//! # Ground rules
//!
//! * Wakers are woken with no lock held. One that panics takes nothing else down: the
//!   others are woken, and the driver goes on.
//! * A turn inside tokio's own delays tokio's I/O, so on a multi-thread runtime it ends
//!   after [`IN_TOKIOS_TURN`] timers. What is left goes to the driver task. A
//!   current-thread runtime fires everything, as tokio does.
//! * A turn may outlive its runtime, in a waker that takes its time, and the shards may
//!   serve another one by then. Every hold asks for the generation; the rest of the turn
//!   is void then.

use std::task::Waker;

use super::clock::Tick;
use super::shard::Shard;
use super::wakers;
use crate::wheel::core::Progress;

/// Timers, give or take one hold, that a turn inside tokio's turn fires.
pub(super) const IN_TOKIOS_TURN: usize = if cfg!(all(test, loom)) { 1 } else { 1024 };
/// The same for one poll of the driver task.
pub(super) const IN_TASK_POLL: usize = if cfg!(all(test, loom)) { 1 } else { 256 };
/// After so many timers a turn looks at the clock again, to tell how late the
/// next ones are.
const LOOK_AGAIN: usize = 256;

/// A turn that is under way.
pub(super) struct Turn {
    generation: u32,
    /// What is due by then is fired.
    now: Tick,
    /// When the clock was last looked at, and the timers fired since.
    seen: Tick,
    unseen: usize,
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
            seen: now,
            unseen: 0,
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
        if self.unseen >= LOOK_AGAIN {
            (self.seen, self.unseen) = (clock(), 0);
        }
        let (seen, batch) = (self.seen, &mut self.batch);
        let progress = shard.expire(self.generation, self.now, seen, self.hold, batch)?;
        self.is_idle &= batch.is_empty();
        self.unseen += batch.len();
        batch.drain(..).for_each(wakers::wake);
        Some(progress)
    }
}
