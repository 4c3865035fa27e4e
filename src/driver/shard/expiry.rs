//! What the driver does with a shard: fire due timers, find the next deadline, count, close it.

use std::mem;
use std::task::Waker;

use super::{Held, Shard, ShardState, Wheel};
use crate::clock::{MILLISECOND, Tick};
use crate::driver::wakers;
use crate::metrics::snapshot::MetricsSnapshot as Snapshot;
use crate::platform::{self, Ordering};
use crate::settings::{BATCH, MANY};

/// A pass that is under way.
pub(in crate::driver) struct Pass {
    /// The tick up to which due timers fire.
    now: Tick,
    /// The time as last read, by which the lag is measured. `now` stays, so that the pass ends.
    seen: Tick,
    /// The wakers that a critical section has taken out, and their number.
    batch: [Option<Waker>; BATCH],
    len: usize,
    /// Number of timers that the pass may still fire. It puts off all others that are due.
    pub(in crate::driver) left: usize,
    /// Number of critical sections in which it may still look for due timers.
    sections: usize,
}

impl Pass {
    /// Begins a pass that fires `left` of the timers that are due, and puts the others off.
    pub(in crate::driver) fn at(now: Tick, left: usize) -> Self {
        Pass {
            now,
            seen: now,
            batch: [const { None }; BATCH],
            len: 0,
            left,
            sections: left.max(MANY) / BATCH,
        }
    }

    /// Wakes the timers that a critical section has fired, after it.
    pub(super) fn wake_batch(&mut self) {
        let fired = mem::take(&mut self.len);
        self.left = self.left.saturating_sub(fired);
        let wakers = self.batch[..fired].iter_mut();
        wakers::wake_all(wakers.filter_map(Option::take));
    }
}

impl ShardState {
    /// Returns the wheel, and what takes the waker of an entry that fires into the batch.
    #[inline(always)]
    fn firing<'a>(
        &'a mut self,
        pass: &'a mut Pass,
        clock: Tick,
    ) -> (&'a mut Wheel, impl FnMut(u32, u64, Option<Waker>)) {
        let ShardState { wheel, lag, .. } = self;
        // Another pass may have moved the shard's clock further than `seen`. No deadline that fires, or
        // that was put off, is later than the clock, so the subtraction below does not overflow.
        let seen = pass.seen.max(clock).0;
        let fire = move |_, deadline, waker| {
            // The batch is empty from `len` on, so the old value is `None`, and `forget` leaks
            // nothing. With `forget`, the compiler emits no code that would drop a waker under the
            // lock.
            mem::forget(mem::replace(&mut pass.batch[pass.len], waker));
            pass.len += 1;
            lag.record(seen - deadline);
        };
        (wheel, fire)
    }
}

impl Shard {
    /// Fires the timers that are due, or puts them off. Applies the late cancels first, so a timer whose
    /// cancel was queued before the pass neither fires nor counts as fired.
    pub(in crate::driver) fn fire_due(&self, pass: &mut Pass, clock: impl Fn() -> Tick) {
        self.apply_late_cancels();
        // If an earlier pass has not finished, these are not the latest timers.
        let is_behind = self.next() <= self.clock();
        while self.next() <= pass.now && pass.sections > 0 {
            self.expire(pass, pass.left > 0 && !is_behind);
            pass.wake_batch();
            if self.next() <= pass.now {
                // If a timer has to wait because the pass is long, that wait counts as lag.
                pass.seen = clock().max(pass.seen);
            }
        }
    }

    /// Fires at most `left` of the timers that were put off.
    pub(in crate::driver) fn fire_put_off(
        &self,
        pass: &mut Pass,
        mut left: usize,
        clock: impl Fn() -> Tick,
    ) {
        while left > 0 && self.has_put_off() {
            pass.seen = clock().max(pass.seen);
            let mut state = platform::wait(&self.state);
            let (wheel, fire) = state.firing(pass, self.clock());
            wheel.fire_put_off(left.min(BATCH), fire);
            self.publish_put_off(&state);
            self.unlock(state);
            pass.wake_batch();
            left = left.saturating_sub(BATCH);
        }
    }

    /// Runs one critical section of a pass: moves the clock, and takes the wakers of at most
    /// [`BATCH`] due timers into the batch, or puts those timers off. A shard that is closed has none,
    /// and its clock stays.
    pub(super) fn expire(&self, pass: &mut Pass, fires: bool) {
        let mut state = platform::wait(&self.state);
        state.remove_cached();
        // The clock never goes back.
        self.move_clock(pass.now.max(self.clock()));
        // Timers less than a millisecond apart may fire in any order, so few due timers have to
        // cascade: usually none, if all of them became due within the last millisecond.
        let (now, earliest, apart) = (pass.now.0, self.next().0, MILLISECOND - 1);
        let progress = if fires {
            let (wheel, mut fire) = state.firing(pass, self.clock());
            wheel.advance(now, earliest, apart, BATCH, &mut fire)
        } else {
            let progress = state.wheel.put_off(now, earliest, apart, BATCH);
            self.publish_put_off(&state);
            progress
        };
        if progress.is_caught_up() {
            self.publish_next(&state);
        }
        self.unlock(state);
        pass.sections -= 1;
    }

    fn publish_put_off(&self, state: &ShardState) {
        let count = state.wheel.count_put_off();
        self.published.put_off.store(count, Ordering::Relaxed);
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
        // The cached entry is no timer's.
        state.remove_cached();
        // Each timer that fires is recorded once.
        let fired = state.lag.count();
        let counts = Snapshot {
            armed: state.wheel.inserted() + state.reused,
            fired,
            cancelled: state.wheel.removed() - fired + state.reused,
            pending: state.wheel.len(),
            reset: state.resets,
            cascaded: state.wheel.cascaded(),
            lag: state.lag.clone(),
            slab_capacity: state.wheel.capacity(),
            ..Snapshot::default()
        };
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
        self.publish_put_off(&state);
        drop(state);
        wheel.into_values().filter_map(|(_, waker)| waker)
    }
}
