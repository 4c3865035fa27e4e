//! What the driver does with a shard: open it, fire due timers, find the next deadline, count,
//! close it.
//!
//! The ground rules are at the head of `shard.rs`.

use std::mem;
use std::task::Waker;

use super::{Held, Shard, ShardState};
use crate::clock::{MILLISECOND, Tick};
use crate::counts::MetricsSnapshot as Snapshot;
use crate::driver::pass::Pass;
use crate::settings::{BATCH, Generation};
use crate::sync::{self, Ordering};

impl Shard {
    /// Begins to run for a newly opened driver whose clock shows `now`.
    pub(in crate::driver) fn open(&self, now: Tick, capacity: usize) {
        let mut fresh = ShardState::starting_at(now.0);
        fresh.wheel.reserve(capacity);
        let mut state = self.wait();
        let old = mem::replace(&mut *state, fresh);
        self.published.clock.store(now.0, Ordering::Release);
        self.publish(Tick::NEVER);
        self.set_fast_path_from(Tick::NEVER);
        drop(state);
        drop(old);
    }

    /// Runs one critical section of a pass: moves the clock and takes out at most [`BATCH`] due
    /// timers, whose wakers go into the batch of the pass. Returns `false` if the driver has shut
    /// down.
    ///
    /// The pass has applied the late cancels by then, so a timer whose cancel was queued before the
    /// pass neither fires nor counts as fired.
    pub(in crate::driver) fn expire(&self, pass: &mut Pass) -> bool {
        let mut state = sync::wait(&self.state);
        if !self.is_open_in(pass.generation) {
            return false;
        }
        state.remove_cached();
        // The clock never goes back.
        let clock = pass.now.max(self.clock());
        self.published.clock.store(clock.0, Ordering::Release);
        // Timers less than a millisecond apart may fire in any order, so few of them have to
        // cascade: none, if every timer that is due became due within the last millisecond.
        let (earliest, apart) = (self.next().0, MILLISECOND - 1);
        let ShardState { wheel, lag, .. } = &mut *state;
        // No deadline that fires is later than this, so the subtraction below does not overflow.
        let seen = pass.seen.max(pass.now).0.max(wheel.now());
        let mut fire = |_, deadline, waker| {
            // The batch is empty from `pass.len` on, so the old value is `None`, and `forget` leaks
            // nothing. With `forget`, the compiler emits no code that would drop a waker under the
            // lock.
            mem::forget(mem::replace(&mut pass.batch[pass.len], waker));
            pass.len += 1;
            lag.record(seen - deadline);
        };
        let progress = wheel.advance(pass.now.0, earliest, apart, BATCH, &mut fire);
        if progress.is_caught_up() {
            self.publish_next(&state);
        }
        self.unlock(state);
        true
    }

    /// Publishes the earliest deadline, which may be later than the one before.
    fn publish_next(&self, state: &ShardState) {
        self.publish(state.wheel.next_expiration().map_or(Tick::NEVER, Tick));
    }

    /// Publishes the earliest deadline again after a timer was cancelled or reset, and releases the
    /// lock. Returns `true` if that deadline changed.
    pub(in crate::driver) fn refresh(&self, mut state: Held<'_>) -> bool {
        state.remove_cached();
        let before = self.next();
        self.publish_next(&state);
        self.unlock(state);
        before != self.next()
    }

    /// [Refreshes](Self::refresh) the shard, unless it is busy. Returns `true` if its earliest
    /// deadline changed.
    pub(in crate::driver) fn try_refresh(&self) -> bool {
        self.try_lock().is_some_and(|state| self.refresh(state))
    }

    /// Returns the number of timers that are registered and have not fired.
    pub(crate) fn pending(&self, generation: Generation) -> usize {
        self.count(generation, ShardState::pending).unwrap_or(0)
    }

    /// Returns the counts, or `None` if the driver has shut down.
    pub(crate) fn snapshot(&self, generation: Generation) -> Option<Snapshot> {
        self.count(generation, ShardState::snapshot)
    }

    /// Counts under the lock. Returns `None` if the driver has shut down. Applies all late cancels
    /// and removes the cached entry first, so that the entries of cancelled timers are freed.
    fn count<C>(&self, generation: Generation, count: impl FnOnce(&ShardState) -> C) -> Option<C> {
        // Before anything is applied or removed that may be another runtime's by now.
        if !self.is_open_in(generation) {
            return None;
        }
        let mut state = self.wait();
        state.remove_cached();
        let counts = self.is_open_in(generation).then(|| count(&state));
        self.unlock(state);
        counts
    }

    /// Ends the generation and returns the wakers of all pending timers. Calls `last` with the
    /// counts first, so that a thread that finds the generation ended also finds its counts.
    pub(in crate::driver) fn close(
        &self,
        last: impl FnOnce(Snapshot),
    ) -> impl Iterator<Item = Waker> {
        let mut state = self.wait();
        state.remove_cached();
        last(state.snapshot());
        // End the generation before any store of the next one: see `check`. Late cancels are
        // refused from here on.
        self.published.generation.fetch_add(1, Ordering::SeqCst);
        self.publish(Tick::NEVER);
        self.change_worker();
        self.set_fast_path_from(Tick::NEVER);
        let old = mem::replace(&mut *state, ShardState::starting_at(0));
        drop(state);
        old.wheel.into_values().filter_map(|(_, waker)| waker)
    }
}
