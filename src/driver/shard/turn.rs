//! The driver's operations on a shard: opening, firing due timers, counting, closing.
//!
//! The ground rules are in `shard.rs`: the owner of an entry, and no foreign code under the lock.

use std::mem;
use std::task::Waker;

use super::{Held, Shard, ShardState};
use crate::clock::Tick;
use crate::counts::MetricsSnapshot as Snapshot;
use crate::driver::turns::Turn;
use crate::driver::wakers;
use crate::settings::{Generation, HOLD};
use crate::sync::{self, Ordering};
use crate::wheel::core::Progress;

impl Shard {
    /// One hold of a turn: makes late cancels, moves the clock, and puts the wakers of at most [`HOLD`]
    /// due timers into the turn's batch. `None` when the driver has ended.
    pub(in crate::driver) fn expire(&self, turn: &mut Turn) -> Option<Progress> {
        let mut state = sync::wait(&self.state);
        if !self.serves(turn.generation) {
            return None;
        }
        let cancelled = self.make_late_cancels(&mut state);
        let left = state.remove_spare();
        // Never back.
        let clock = turn.now.max(self.clock());
        self.published.clock.store(clock.0, Ordering::Release);
        let ShardState { wheel, lag, .. } = &mut *state;
        // No deadline that fires is later.
        let seen = turn.seen.max(turn.now).0.max(wheel.now());
        let progress = wheel.advance(turn.now.0, HOLD, &mut |_, deadline, waker| {
            turn.batch.extend(waker);
            lag.record(seen - deadline);
        });
        match progress {
            Progress::CaughtUp => self.publish_next(&state),
            Progress::Unfinished => self.publish(turn.now),
        }
        self.unlock(state);
        wakers::discard(cancelled.into_iter().flatten().flatten().chain(left));
        Some(progress)
    }

    /// Publishes the earliest deadline, which may be later than the one before.
    fn publish_next(&self, state: &ShardState) {
        let next = state.wheel.next_expiration();
        self.publish(next.map_or(Tick::NEVER, Tick));
    }

    /// Publishes the earliest deadline anew, after a timer was cancelled or put off. Returns true
    /// if that deadline changed. Nothing is done in a shard that another thread holds.
    pub(in crate::driver) fn refresh(&self) -> bool {
        self.try_lock().is_some_and(|state| self.refresh_in(state))
    }

    pub(in crate::driver) fn refresh_in(&self, mut state: Held<'_>) -> bool {
        let cancelled = self.make_late_cancels(&mut state);
        let left = state.remove_spare();
        let before = self.next();
        self.publish_next(&state);
        self.unlock(state);
        wakers::discard(cancelled.into_iter().flatten().flatten().chain(left));
        before != self.next()
    }

    /// Timers registered and not fired.
    pub(crate) fn pending(&self, generation: Generation) -> usize {
        self.snapshot(generation).map_or(0, |now| now.pending)
    }

    /// The counts, with all late cancels made, and without a spare: the entries of cancelled
    /// timers are freed. `None` when the driver has ended.
    pub(crate) fn snapshot(&self, generation: Generation) -> Option<Snapshot> {
        let mut state = self.wait();
        let left = state.remove_spare();
        let seen = self.serves(generation).then(|| state.snapshot());
        self.unlock(state);
        wakers::discard(left);
        seen
    }

    /// Begins to serve a new driver whose clock shows `now`.
    pub(in crate::driver) fn open(&self, now: Tick, capacity: usize) {
        let mut fresh = ShardState::starting_at(now.0);
        fresh.wheel.reserve(capacity);
        let mut state = self.wait();
        let old = mem::replace(&mut *state, fresh);
        self.published.clock.store(now.0, Ordering::Release);
        self.publish(Tick::NEVER);
        self.set_plain_from(Tick::NEVER);
        drop(state);
        drop(old);
    }

    /// Ends the generation and hands out the wakers of all timers that are pending. `last` gets
    /// the counts before any thread can find that the generation has ended.
    pub(in crate::driver) fn close(
        &self,
        last: impl FnOnce(Snapshot),
    ) -> impl Iterator<Item = Waker> {
        let mut state = self.wait();
        let left = state.remove_spare();
        last(state.snapshot());
        // Before any store of the next generation: see `check`. Late cancels find that it has ended.
        self.published.generation.fetch_add(1, Ordering::SeqCst);
        self.publish(Tick::NEVER);
        self.change_worker();
        self.set_plain_from(Tick::NEVER);
        let old = mem::replace(&mut *state, ShardState::starting_at(0));
        drop(state);
        wakers::discard(left);
        old.wheel.into_values().filter_map(|(_, waker)| waker)
    }
}
