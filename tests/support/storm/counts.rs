//! The counts of a storm. They have to balance.

use crate::prelude::*;

use std::sync::atomic::AtomicI64;

/// Each armed timer has exactly one of three ends: it has fired, was cancelled, or lost its runtime.
#[derive(Debug, Default)]
pub struct Counts {
    /// Timers that were polled and pending.
    pub(crate) armed: Count,
    /// Armed timers that were ready when they were polled.
    pub(crate) fired: Count,
    /// Armed timers that were dropped while they were pending.
    pub(crate) cancelled: Count,
    /// Armed timers whose runtime ended.
    pub(crate) ended: Count,
    /// Armed timers that continued in another runtime, and ended there.
    pub(crate) went_on: Count,
    /// Number of resets.
    pub(crate) reset: Count,
    /// Runtimes that have ended.
    pub(crate) runtimes: Count,
    /// Witnesses that exist.
    pub(crate) witnesses: AtomicI64,
    failures: Mutex<Vec<String>>,
}

#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn up(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

impl Counts {
    /// Notes a failure. This does not panic, because the failure may be found in a waker, whose panics a driver catches.
    pub(crate) fn fail(&self, what: impl fmt::Display) {
        let mut failures = self.failures.lock().unwrap();
        if failures.len() < 20 {
            failures.push(what.to_string());
        }
    }

    pub fn failures(&self) -> Vec<String> {
        self.failures.lock().unwrap().clone()
    }

    /// Returns the number of armed timers that have not ended.
    pub(crate) fn pending(&self) -> i64 {
        // Read the ends first, because each timer's end is counted after its beginning.
        let ends = self.fired.get() + self.cancelled.get() + self.ended.get();
        self.armed.get() as i64 - ends as i64
    }
}
