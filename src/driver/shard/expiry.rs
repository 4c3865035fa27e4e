//! What the driver does with a shard: fire due timers, find the next deadline, count, close it.

use std::mem;
use std::task::Waker;

use super::{Held, Shard, ShardState};
use crate::clock::{MILLISECOND, Tick};
use crate::driver::wakers;
use crate::metrics::snapshot::MetricsSnapshot as Snapshot;
use crate::platform::{self, Ordering};
use crate::settings::{BATCH, MANY};

/// The timers that a critical section takes out of the wheel: their deadlines and their wakers.
#[derive(Default)]
pub(super) struct Batch {
    timers: [(u64, Option<Waker>); BATCH],
    len: usize,
}

impl Batch {
    #[inline(always)]
    fn push(&mut self, deadline: u64, waker: Option<Waker>) {
        // There is no waker from `len` on, so `forget` leaks nothing. With `forget`, the compiler emits
        // no code that would drop a waker under the lock.
        mem::forget(mem::replace(&mut self.timers[self.len], (deadline, waker)));
        self.len += 1;
    }

    /// Takes out the wakers.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Waker> {
        let len = mem::take(&mut self.len);
        self.timers[..len]
            .iter_mut()
            .filter_map(|(_, waker)| waker.take())
    }
}

/// A pass that is under way.
pub(in crate::driver) struct Pass {
    /// The tick up to which due timers fire.
    now: Tick,
    /// The time as last read, by which the lag is measured. `now` stays, so that the pass ends.
    seen: Tick,
    batch: Batch,
    /// Number of timers that the pass may still fire. It defers all others that are due.
    pub(in crate::driver) left: usize,
    /// Number of critical sections in which it may still look for due timers.
    sections: usize,
    /// Whether it has found nothing due.
    pub(in crate::driver) is_idle: bool,
}

impl Pass {
    /// Begins a pass that fires `left` of the timers that are due, and defers the others.
    pub(in crate::driver) fn at(now: Tick, left: usize) -> Self {
        Pass {
            now,
            seen: now,
            batch: Batch::default(),
            left,
            sections: left.max(MANY) / BATCH,
            is_idle: true,
        }
    }

    /// Wakes the timers that a critical section has fired, after it.
    pub(super) fn wake_batch(&mut self) {
        self.left = self.left.saturating_sub(self.batch.len);
        wakers::wake_all(self.batch.drain());
    }
}

impl Shard {
    /// Fires the timers that are due, or defers them. Applies the late cancels first, so a timer whose
    /// cancel was queued before the pass neither fires nor counts as fired.
    pub(in crate::driver) fn fire_due(&self, pass: &mut Pass, clock: impl Fn() -> Tick) {
        self.apply_late_cancels();
        // If an earlier pass has not finished, these are not the latest timers.
        let is_behind = self.next() <= self.clock();
        while self.next() <= pass.now && pass.sections > 0 {
            self.expire(pass, is_behind || pass.left == 0);
            pass.wake_batch();
            if self.next() <= pass.now {
                // If a timer has to wait because the pass is long, that wait counts as lag.
                pass.seen = clock().max(pass.seen);
            }
        }
    }

    /// Runs one critical section of a pass: moves the clock, takes at most [`BATCH`] due timers out of
    /// the wheel, and counts them as fired or defers them. A shard that is closed has none, and its
    /// clock stays.
    pub(super) fn expire(&self, pass: &mut Pass, defers: bool) {
        let mut state = platform::wait(&self.state);
        state.remove_cached();
        // The clock never goes back.
        self.move_clock(pass.now.max(self.clock()));
        // Timers less than a millisecond apart may fire in any order, so few due timers have to
        // cascade: usually none, if all of them became due within the last millisecond.
        let (now, earliest, apart) = (pass.now.0, self.next().0, MILLISECOND - 1);
        // Another pass may have moved the clock further than `seen`. No deadline that fires is later than
        // the clock, so the subtraction below does not overflow.
        let seen = pass.seen.max(self.clock()).0;
        let ShardState { wheel, lag, .. } = &mut *state;
        let mut take = |_, deadline, waker| {
            pass.batch.push(deadline, waker);
            if !defers {
                lag.record(seen - deadline);
            }
        };
        let progress = wheel.advance(now, earliest, apart, BATCH, &mut take);
        if progress.is_caught_up() {
            self.publish_next(&state);
        }
        pass.is_idle &= pass.batch.len == 0;
        if defers {
            self.published
                .deferred
                .fetch_add(pass.batch.len, Ordering::Relaxed);
            state
                .deferred
                .push_back(Box::new(mem::take(&mut pass.batch)));
        }
        self.unlock(state);
        pass.sections -= 1;
    }

    /// Fires a batch of deferred timers, the latest or the first, if there are any and the pass may
    /// still fire some.
    pub(in crate::driver) fn fire_deferred(
        &self,
        pass: &mut Pass,
        latest: bool,
        clock: impl Fn() -> Tick,
    ) {
        if pass.left == 0 || self.deferred() == 0 {
            return;
        }
        pass.seen = clock().max(pass.seen);
        let mut state = platform::wait(&self.state);
        let batch = match latest {
            true => state.deferred.pop_back(),
            false => state.deferred.pop_front(),
        };
        pass.batch = *batch.unwrap_or_default();
        let fired = pass.batch.len;
        self.published.deferred.fetch_sub(fired, Ordering::Relaxed);
        let seen = pass.seen.max(self.clock()).0;
        for (deadline, _) in &pass.batch.timers[..fired] {
            state.lag.record(seen - deadline);
        }
        self.unlock(state);
        pass.wake_batch();
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
        let deferred = self.deferred();
        let counts = Snapshot {
            armed: state.wheel.inserted() + state.reused,
            fired,
            cancelled: state.wheel.removed() - fired - deferred as u64 + state.reused,
            pending: state.wheel.len() + deferred,
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
        let deferred = mem::take(&mut state.deferred);
        self.published.deferred.store(0, Ordering::Relaxed);
        let wheel = state.wheel.take();
        drop(state);
        let deferred = deferred.into_iter().flat_map(|batch| batch.timers);
        let wakers = deferred.map(|(_, waker)| waker);
        wakers
            .chain(wheel.into_values().map(|(_, waker)| waker))
            .flatten()
    }
}
