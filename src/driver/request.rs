//! What a driver keeps from turn to turn: the request for a turn of the driver task, how long that
//! task has waited to be polled, and the shard that comes first.
//!
//! # Ground rules
//!
//! * The request and the driver task's waker change under one lock. A thread that asks takes the
//!   waker out, and wakes the task after the release.
//! * A request that comes while the driver task is polled finds no waker. It stays, and the task,
//!   which leaves its waker at the end of each poll, sees it then: the task is polled again.

use std::mem;
use std::task::Waker;

use super::clock::Tick;
use super::sync::{AtomicU64, AtomicUsize, Mutex, Ordering, lock};

/// What a driver keeps from turn to turn.
#[derive(Default)]
pub(super) struct Turns {
    request: Mutex<Request>,
    /// Since when the driver task waits to be polled again; [`Tick::NEVER`] if it did not ask.
    pub(super) waits_since: AtomicU64,
    /// The shard that the next turn begins with.
    pub(super) first: AtomicUsize,
}

/// A request for a turn of the driver task.
#[derive(Default)]
struct Request {
    /// When the request was made; `None` where no turn is asked for.
    since: Option<Tick>,
    /// The driver task's waker, while the task waits for a request.
    task: Option<Waker>,
}

impl Turns {
    /// Another runtime is to be served.
    pub(super) fn reset(&self) {
        drop(self.take_request());
        self.waits_since.store(Tick::NEVER.0, Ordering::Relaxed);
        self.first.store(0, Ordering::Relaxed);
    }

    /// Takes any request. Returns the waker that waited for one, to be dropped without the lock.
    pub(super) fn take_request(&self) -> Option<Waker> {
        mem::take(&mut *lock(&self.request)).task
    }

    /// Leaves the driver task's waker for the next request. Returns true if there was a request
    /// since the last was taken.
    pub(super) fn set_task(&self, task: &Waker) -> bool {
        let task = Some(task.clone());
        let mut request = lock(&self.request);
        request.task = task;
        request.since.is_some()
    }

    /// Makes a request. Returns the driver task's waker if the task waits.
    pub(super) fn ask(&self, now: Tick) -> Option<Waker> {
        let mut request = lock(&self.request);
        request.since.get_or_insert(now);
        request.task.take()
    }

    /// How long a request has been open, in nanoseconds.
    pub(super) fn asked_for(&self, now: Tick) -> u64 {
        let since = lock(&self.request).since;
        since.map_or(0, |since| now.0.saturating_sub(since.0))
    }

    /// How long the driver task has waited to be polled again, in nanoseconds.
    pub(super) fn take_wait(&self, now: Tick) -> Option<u64> {
        let since = Tick(self.waits_since.swap(Tick::NEVER.0, Ordering::Relaxed));
        (since != Tick::NEVER).then(|| now.0.saturating_sub(since.0))
    }
}
