//! What the driver does with a shard: fire due timers, find the next deadline, count, close it.
//!
//! The ground rules are at the head of `shard.rs`.

use std::mem;
use std::task::Waker;

use super::{Held, Shard, ShardState};
use crate::clock::{MILLISECOND, Tick};
use crate::driver::wakers;
use crate::metrics::snapshot::MetricsSnapshot as Snapshot;
use crate::platform;
use crate::settings::BATCH;

/// A pass that is under way.
pub(in crate::driver) struct Pass {
    /// The tick up to which due timers fire.
    now: Tick,
    /// The time as last read, by which the lag is measured. `now` stays, so that the pass ends.
    seen: Tick,
    /// The wakers that a critical section has taken out, and their number.
    batch: [Option<Waker>; BATCH],
    len: usize,
    /// Whether no timer has fired yet.
    pub(in crate::driver) is_idle: bool,
    /// Number of timers after which the pass ends.
    left: usize,
}

impl Pass {
    /// Begins a pass that ends after this many timers.
    pub(in crate::driver) fn at(now: Tick, most: usize) -> Self {
        Pass {
            now,
            seen: now,
            batch: [const { None }; BATCH],
            len: 0,
            is_idle: true,
            left: most,
        }
    }

    /// Wakes the timers that a critical section has fired, after it.
    pub(super) fn wake_batch(&mut self) {
        let fired = mem::take(&mut self.len);
        self.is_idle &= fired == 0;
        let wakers = self.batch[..fired].iter_mut();
        wakers::wake_all(wakers.filter_map(Option::take));
    }
}

impl Shard {
    /// Fires the timers that are due. Returns `false` if the pass ends before all of them have fired.
    /// Applies the late cancels first, so a timer whose cancel was queued before the pass neither
    /// fires nor counts as fired.
    pub(in crate::driver) fn fire_due(&self, pass: &mut Pass, clock: impl Fn() -> Tick) -> bool {
        self.apply_late_cancels();
        while self.next() <= pass.now {
            if pass.left == 0 {
                return false;
            }
            self.expire(pass);
            pass.wake_batch();
            if self.next() <= pass.now {
                // If a timer has to wait because the pass is long, that wait counts as lag.
                pass.seen = clock().max(pass.seen);
            }
        }
        true
    }

    /// Runs one critical section of a pass: moves the clock, and takes the wakers of at most
    /// [`BATCH`] due timers into the batch. A shard that is closed has none, and its clock stays.
    pub(super) fn expire(&self, pass: &mut Pass) {
        let mut state = platform::wait(&self.state);
        state.remove_cached();
        // The clock never goes back.
        self.move_clock(pass.now.max(self.clock()));
        // Timers less than a millisecond apart may fire in any order, so few due timers have to
        // cascade: usually none, if all of them became due within the last millisecond.
        let (earliest, apart) = (self.next().0, MILLISECOND - 1);
        let ShardState { wheel, lag, .. } = &mut *state;
        // Another pass may have moved the wheel further than `seen`. No deadline that fires is
        // later than both, so the subtraction below does not overflow.
        let seen = pass.seen.0.max(wheel.now());
        let mut fire = |_, deadline, waker| {
            // The batch is empty from `len` on, so the old value is `None`, and `forget` leaks
            // nothing. With `forget`, the compiler emits no code that would drop a waker under the
            // lock.
            mem::forget(mem::replace(&mut pass.batch[pass.len], waker));
            pass.len += 1;
            lag.record(seen - deadline);
        };
        let progress = wheel.advance(pass.now.0, earliest, apart, BATCH, &mut fire);
        let mut worked = BATCH;
        if progress.is_caught_up() {
            self.publish_next(&state);
            worked = pass.len;
        }
        // A section that only moved timers closer counts as if it had fired as many.
        pass.left = pass.left.saturating_sub(worked);
        self.unlock(state);
    }

    /// Publishes the earliest deadline, as far as it is known. Both the result of the search and the
    /// present `next` are lower bounds of it, so this stores the later one. (The search may stop at
    /// the start of a slot, before `next`.)
    fn publish_next(&self, state: &ShardState) {
        let found = state.wheel.next_expiration().map_or(Tick::NEVER, Tick);
        self.store_next(found.max(self.next()));
    }

    /// Publishes the earliest deadline again after a timer was cancelled or reset, and releases the
    /// lock. Returns `true` if that deadline changed.
    pub(in crate::driver) fn raise_next(&self, mut state: Held<'_>) -> bool {
        state.remove_cached();
        let before = self.next();
        self.publish_next(&state);
        self.unlock(state);
        before != self.next()
    }

    /// Returns the counts. Applies all late cancels first, so that the entries of cancelled timers
    /// are freed.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let mut state = self.apply_late_cancels_and_lock();
        let counts = state.snapshot();
        self.unlock(state);
        counts
    }

    /// Closes the shard and returns the wakers of all pending timers, which count as cancelled.
    /// From here on, every operation is refused.
    pub(in crate::driver) fn close(&self) -> impl Iterator<Item = Waker> {
        let mut state = self.apply_late_cancels_and_lock();
        state.remove_cached();
        self.move_clock(Tick::NEVER);
        self.store_next(Tick::NEVER);
        self.publish_fast_path(Tick::NEVER);
        let wheel = state.wheel.take();
        drop(state);
        wheel.into_values().filter_map(|(_, waker)| waker)
    }
}
