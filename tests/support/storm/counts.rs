//! The counts of a storm, which have to balance.

use crate::prelude::*;

use std::sync::atomic::AtomicI64;

/// Each armed timer comes to exactly one of the three ends.
#[derive(Debug, Default)]
pub struct Counts {
    /// Timers that were polled and pending.
    pub(crate) armed: Count,
    /// … and seen ready when polled.
    pub(crate) fired: Count,
    /// … and dropped while they were pending.
    pub(crate) cancelled: Count,
    /// … and lost their runtime.
    pub(crate) ended: Count,
    /// … or went on with another driver, and came to an end there.
    pub(crate) went_on: Count,
    /// Deadlines moved.
    pub(crate) reset: Count,
    /// Runtimes that have come and gone.
    pub(crate) runtimes: Count,
    /// Wakers that exist.
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
    /// Notes a failure. Does not panic: a failure may be found in a waker, whose panics a driver catches.
    pub(crate) fn fail(&self, what: impl fmt::Display) {
        let mut failures = self.failures.lock().unwrap();
        if failures.len() < 20 {
            failures.push(what.to_string());
        }
    }

    pub fn failures(&self) -> Vec<String> {
        self.failures.lock().unwrap().clone()
    }

    /// Armed timers that have not come to an end.
    pub(crate) fn pending(&self) -> i64 {
        // The ends first: each is counted after its beginning.
        let ends = self.fired.get() + self.cancelled.get() + self.ended.get();
        self.armed.get() as i64 - ends as i64
    }
}
