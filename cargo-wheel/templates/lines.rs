//! Counts per line of code that arms a timer, for `cargo wheel timers`.

use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::task::Poll;

use crate::clock::Tick;

#[derive(Debug, Default)]
struct Line {
    armed: AtomicU64,
    cancelled: AtomicU64,
    fired: AtomicU64,
    /// The sum of the durations, in microseconds.
    micros: AtomicU64,
}

static LINES: RwLock<BTreeMap<&Location<'_>, &Line>> = RwLock::new(BTreeMap::new());

impl Line {
    fn of(location: &'static Location<'static>) -> &'static Self {
        let found = LINES.read().expect("not poisoned").get(location).copied();
        found.unwrap_or_else(|| {
            let mut lines = LINES.write().expect("not poisoned");
            lines.entry(location).or_insert_with(|| Box::leak(Box::default()))
        })
    }

    fn arm(&self, deadline: Tick) {
        self.armed.fetch_add(1, Relaxed);
        let duration = deadline.saturating_since(Tick::now());
        self.micros.fetch_add(duration.as_micros() as u64, Relaxed);
    }
}

/// The timer of a `Sleep`, beside it.
#[derive(Debug)]
pub(crate) struct Operation {
    line: &'static Line,
    is_armed: AtomicBool,
}

pub(crate) struct Polling<'a>(&'a Operation);

impl Operation {
    #[track_caller]
    pub(crate) fn new_sleep() -> Self {
        let (line, is_armed) = (Line::of(Location::caller()), AtomicBool::new(false));
        Operation { line, is_armed }
    }

    pub(crate) fn reset(&mut self, deadline: Tick) {
        if !self.is_armed.swap(true, Relaxed) {
            self.line.arm(deadline);
        }
    }

    /// A timer that is registered although it was armed has been cancelled by a lazy reset.
    pub(crate) fn poll(&self, _in_budget: bool, registers: Option<Tick>) -> Polling<'_> {
        if let Some(deadline) = registers {
            self.cancel();
            self.line.arm(deadline);
            self.is_armed.store(true, Relaxed);
        }
        Polling(self)
    }

    fn cancel(&self) {
        if self.is_armed.swap(false, Relaxed) {
            self.line.cancelled.fetch_add(1, Relaxed);
        }
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl Polling<'_> {
    pub(crate) fn end(self, polled: Poll<()>) -> Poll<()> {
        if polled.is_ready() && self.0.is_armed.swap(false, Relaxed) {
            self.0.line.fired.fetch_add(1, Relaxed);
        }
        polled
    }
}

pub(super) fn text(_drivers: &[crate::Metrics]) -> String {
    let lines = LINES.read().expect("not poisoned");
    let lines = lines.iter().map(|(at, line)| {
        let counts = [&line.armed, &line.cancelled, &line.fired, &line.micros];
        let counts = counts.map(|count| count.load(Relaxed).to_string());
        format!("{}\t{}:{}\n", counts.join("\t"), at.file(), at.line())
    });
    lines.collect()
}
