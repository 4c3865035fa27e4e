//! What the driver does with a shard: fire due timers, find the next deadline, count, close it.

use std::mem;
use std::task::Waker;

use super::{Held, Shard, ShardState};
use crate::clock::{MILLISECOND, Tick};
use crate::driver::wakers;
use crate::metrics::snapshot::MetricsSnapshot as Snapshot;
use crate::platform::{self, Ordering};
use crate::settings::{BATCH, MANY, PASS};

/// Deferred timers that one critical section took out of the wheel: their deadlines and their wakers.
pub(super) type Deferred = Vec<(u64, Option<Waker>)>;

/// A pass that is under way.
pub(in crate::driver) struct Pass<'a> {
    /// The tick up to which due timers fire.
    now: Tick,
    /// The time as last read, by which the lag is measured. `now` stays, so that the pass ends.
    seen: Tick,
    clock: &'a dyn Fn() -> Tick,
    /// The wakers of the timers that a critical section has fired, and their number.
    batch: [Option<Waker>; BATCH],
    len: usize,
    /// Number of timers that the pass may still fire. It defers all others that are due.
    pub(in crate::driver) left: usize,
    /// Number of critical sections in which it may still look for due timers.
    pub(in crate::driver) sections: usize,
    /// Whether it has found nothing due.
    pub(in crate::driver) is_idle: bool,
}

impl<'a> Pass<'a> {
    /// Begins a pass that fires `left` of the timers that are due, and defers the others.
    pub(in crate::driver) fn at(now: Tick, left: usize, clock: &'a dyn Fn() -> Tick) -> Self {
        Pass {
            now,
            seen: now,
            clock,
            batch: [const { None }; BATCH],
            len: 0,
            left,
            sections: left.max(MANY) / BATCH,
            is_idle: true,
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

impl Shard {
    /// Fires the timers that are due, or defers them. Applies the late cancels first, so a timer whose
    /// cancel was queued before the pass neither fires nor counts as fired.
    pub(in crate::driver) fn fire_due(&self, pass: &mut Pass<'_>) {
        self.apply_late_cancels();
        // If an earlier pass has not finished, these are not the latest timers. In a pass that fires all,
        // they do not overtake those that were deferred.
        let is_behind = self.next() <= self.clock() || pass.left > PASS && self.deferred() > 0;
        while self.next() <= pass.now && pass.sections > 0 {
            self.expire(pass, is_behind || pass.left == 0);
            pass.wake_batch();
            if self.next() <= pass.now {
                // If a timer has to wait because the pass is long, that wait counts as lag.
                pass.seen = (pass.clock)().max(pass.seen);
            }
        }
    }

    /// Runs one critical section of a pass: moves the clock, takes at most [`BATCH`] due timers out of
    /// the wheel, and counts them as fired or defers them. A shard that is closed has none, and its
    /// clock stays.
    pub(super) fn expire(&self, pass: &mut Pass<'_>, defers: bool) {
        let mut deferred = Vec::with_capacity(if defers { BATCH } else { 0 });
        let mut state = platform::wait(&self.state);
        state.remove_cached();
        // The clock never goes back.
        self.move_clock(pass.now.max(self.clock()));
        // Timers less than a millisecond apart may fire in any order, so few due timers have to
        // cascade: usually none, if all of them became due within the last millisecond.
        let (now, earliest, apart) = (pass.now.0, self.next().0, MILLISECOND - 1);
        let seen = self.seen_by(pass);
        let ShardState { wheel, lag, .. } = &mut *state;
        let mut take = |_, deadline, waker| {
            if defers {
                return deferred.push((deadline, waker));
            }
            // The batch is empty from `len` on, so `forget` leaks nothing. With `forget`, the compiler
            // emits no code that would drop a waker under the lock.
            mem::forget(mem::replace(&mut pass.batch[pass.len], waker));
            pass.len += 1;
            lag.record(seen - deadline);
        };
        let progress = wheel.advance(now, earliest, apart, BATCH, &mut take);
        if progress.is_caught_up() {
            self.publish_next(&state);
        }
        pass.is_idle &= pass.len == 0 && deferred.is_empty();
        // A section may only have cascaded entries.
        if !deferred.is_empty() {
            let count = deferred.len();
            self.published.deferred.fetch_add(count, Ordering::Relaxed);
            state.deferred.push_back(deferred);
        }
        self.unlock(state);
        pass.sections -= 1;
    }

    /// Fires the deferred timers of one critical section: alternately the latest and the first, or the
    /// first if the pass fires all. Returns `false` if there are none, or if the pass may fire no more.
    #[cold]
    pub(in crate::driver) fn fire_deferred(&self, pass: &mut Pass<'_>) -> bool {
        if pass.left == 0 || self.deferred() == 0 {
            return false;
        }
        pass.seen = (pass.clock)().max(pass.seen);
        let mut state = platform::wait(&self.state);
        let fired = match state.deferred.len() % 2 {
            0 if pass.left <= PASS => state.deferred.pop_back(),
            _ => state.deferred.pop_front(),
        };
        let fired = fired.unwrap_or_default();
        let count = fired.len();
        self.published.deferred.fetch_sub(count, Ordering::Relaxed);
        let seen = self.seen_by(pass);
        for (deadline, _) in &fired {
            state.lag.record(seen - deadline);
        }
        self.unlock(state);
        pass.left = pass.left.saturating_sub(count);
        wakers::wake_all(fired.into_iter().filter_map(|(_, waker)| waker));
        true
    }

    /// Returns the time by which a pass measures the lag. It is not before the clock, which another pass
    /// may have moved further than `seen`, so no deadline that fires is later.
    fn seen_by(&self, pass: &Pass<'_>) -> u64 {
        pass.seen.max(self.clock()).0
    }

    /// Publishes the earliest deadline, as far as it is known. Both the result of the search and the
    /// present `next` are lower bounds of it, so this stores the later one. (The search may find
    /// the deadline of a timer that was cancelled, before `next`.)
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
        let pending = deferred.into_iter().flatten().chain(wheel.into_values());
        pending.filter_map(|(_, waker)| waker)
    }
}
