//! What the gateway counts: in atomics, since the end of a request may be that its future is
//! dropped.

use std::sync::atomic::{AtomicU64, Ordering};

/// One count, written by all workers.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Says how many there were before.
    pub(crate) fn add(&self, number: u64) -> u64 {
        self.0.fetch_add(number, Ordering::Relaxed)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) requests: Count,
    pub(crate) calls: Count,
    /// Calls that reached a backend.
    pub(crate) seen: Count,
    /// Calls whose answer is part of the answer to a request.
    pub(crate) answered: Count,
    pub(crate) call_fired: Count,
    /// Of these, the calls that were not to be answered.
    pub(crate) never_fired: Count,
    /// Timers of calls that fired before their time; there must be none.
    pub(crate) early: Count,
}
