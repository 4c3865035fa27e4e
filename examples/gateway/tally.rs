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

    pub(crate) fn add(&self, number: u64) {
        self.0.fetch_add(number, Ordering::Relaxed);
    }

    /// Counts one, and says how many there were before.
    pub(crate) fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) requests: Count,
    pub(crate) calls: Count,
    /// Calls whose answer is part of the answer to a request.
    pub(crate) answered: Count,
    pub(crate) call_fired: Count,
    /// Calls that were not to be answered, ended by their own timer.
    pub(crate) never_fired: Count,
    /// Calls that were not to be answered, dropped when the request's timer fired before theirs.
    pub(crate) never_dropped: Count,
    /// Timers of calls that fired before their time; there must be none.
    pub(crate) early: Count,
}

impl Tally {
    pub(crate) fn begin_call(&self, never: bool) -> Call<'_> {
        self.calls.add(1);
        Call {
            tally: self,
            never,
            ended: false,
        }
    }
}

/// A call under way.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    tally: &'a Tally,
    never: bool,
    ended: bool,
}

impl Call<'_> {
    /// Or failed; a timer it was not.
    pub(crate) fn answered(&mut self) {
        self.ended = true;
    }

    pub(crate) fn timed_out(&mut self, early: bool) {
        self.ended = true;
        self.tally.call_fired.add(1);
        self.tally.never_fired.add(u64::from(self.never));
        self.tally.early.add(u64::from(early));
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        let dropped = self.never && !self.ended;
        self.tally.never_dropped.add(u64::from(dropped));
    }
}
