//! What a driver keeps from turn to turn: the request for a turn of the driver task, and the shard
//! that comes first.
//!
//! # Ground rules
//!
//! * The request and the driver task's waker change under one lock. A thread that asks takes the
//!   waker out, and wakes the task after the release.
//! * A request that comes while the driver task is polled finds no waker. It stays, and the task,
//!   which leaves its waker at the end of each poll, sees it then: the task is polled again.

use std::mem;
use std::task::Waker;

use crate::clock::Tick;
use crate::sync::{AtomicUsize, Mutex, Ordering, lock};

/// What a driver keeps from turn to turn.
#[derive(Default)]
pub(super) struct Turns {
    request: Mutex<Request>,
    /// The shard that the next turn begins with.
    pub(super) first: AtomicUsize,
}

/// A request for a turn of the driver task.
#[derive(Default)]
struct Request {
    /// Since when a turn is asked for and none has run; `None` where no turn is asked for.
    since: Option<Tick>,
    /// The driver task's waker, while the task waits for a request.
    task: Option<Waker>,
}

impl Turns {
    /// Another runtime is to be served.
    pub(super) fn reset(&self) {
        drop(self.take_request());
        self.first.store(0, Ordering::Relaxed);
    }

    /// Takes any request. Returns how long it has waited, in nanoseconds, and the waker that was left
    /// for one, to be dropped without the lock.
    pub(super) fn take_request(&self) -> (u64, Option<Waker>) {
        let request = mem::take(&mut *lock(&self.request));
        (request.waits(), request.task)
    }

    /// Makes a request. Returns the driver task's waker if the task waits.
    pub(super) fn ask(&self) -> Option<Waker> {
        let mut request = lock(&self.request);
        request.since.get_or_insert_with(Tick::really_now);
        request.task.take()
    }

    /// How long a request has waited for a turn, in nanoseconds.
    pub(super) fn waits(&self) -> u64 {
        lock(&self.request).waits()
    }

    /// A turn has ended, and has left timers over unless it `is_done`. A request waits from now on, and
    /// not for the time before. The driver task leaves its waker for the next request; returns true
    /// if there is a request already.
    pub(super) fn end_turn(&self, is_done: bool, task: Option<&Waker>) -> bool {
        let task = task.cloned();
        let mut request = lock(&self.request);
        if !is_done || request.since.is_some() {
            request.since = Some(Tick::really_now());
        }
        if task.is_some() {
            request.task = task;
        }
        request.since.is_some()
    }
}

impl Request {
    /// By the real clock, as all here: a paused clock may stand years ahead.
    fn waits(&self) -> u64 {
        let since = |since: Tick| Tick::really_now().0.saturating_sub(since.0);
        self.since.map_or(0, since)
    }
}
