//! The counts of a storm, which have to balance.

use crate::prelude::*;

use std::fmt;
use std::sync::atomic::AtomicI64;

use hdrhistogram::Histogram;

/// Each armed timer comes to exactly one of the three ends.
#[derive(Default)]
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
    /// Tasks' waits that were begun, and that came to an end, completed or dropped.
    pub(crate) waits: Count,
    pub(crate) waited: Count,
    /// Wakers that exist.
    pub(crate) witnesses: AtomicI64,
    /// In microseconds.
    lateness: Mutex<Option<Histogram<u64>>>,
    failures: Mutex<Vec<String>>,
}

#[derive(Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn up(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} armed = {} fired + {} cancelled + {} ended + {} pending; {} went on elsewhere, {} resets, {} waits of tasks, {} runtimes",
            self.armed.get(),
            self.fired.get(),
            self.cancelled.get(),
            self.ended.get(),
            self.pending(),
            self.went_on.get(),
            self.reset.get(),
            self.waits.get(),
            self.runtimes.get(),
        )
    }
}

impl Counts {
    pub(crate) fn late(&self, by: Duration) {
        let mut lateness = self.lateness.lock().unwrap();
        let micros = u64::try_from(by.as_micros()).unwrap_or(u64::MAX);
        let hour = 3_600_000_000;
        let histogram = lateness.get_or_insert_with(|| Histogram::new_with_max(hour, 2).unwrap());
        histogram.saturating_record(micros);
    }

    /// How late timers were since the last call.
    pub fn take_lateness(&self) -> String {
        let Some(late) = self.lateness.lock().unwrap().take() else {
            return "none was late".to_owned();
        };
        let millis = |quantile| late.value_at_quantile(quantile) as f64 / 1000.0;
        let (half, few, most) = (millis(0.5), millis(0.99), millis(1.0));
        format!("late by {half:.1} ms (p50) {few:.1} (p99) {most:.1} (most)")
    }

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
