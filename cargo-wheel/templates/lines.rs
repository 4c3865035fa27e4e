//! Counts per line of code that arms a timer, for `cargo wheel timers`.

use std::panic::Location;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::task::Poll;

use crate::clock::Tick;

/// More lines than a service has. What does not fit is counted with another line.
const MOST: usize = 1024;

/// Durations by their number of binary digits, in microseconds: how often, and the last of them.
const CLASSES: usize = 64;

#[derive(Debug)]
struct Line {
    location: OnceLock<&'static Location<'static>>,
    armed: AtomicU64,
    cancelled: AtomicU64,
    fired: AtomicU64,
    reset: AtomicU64,
    durations: [(AtomicU64, AtomicU64); CLASSES],
}

static LINES: [Line; MOST] = [const {
    Line {
        location: OnceLock::new(),
        armed: AtomicU64::new(0),
        cancelled: AtomicU64::new(0),
        fired: AtomicU64::new(0),
        reset: AtomicU64::new(0),
        durations: [const { (AtomicU64::new(0), AtomicU64::new(0)) }; CLASSES],
    }
}; MOST];

impl Line {
    /// Finds the line in the table, which is open-addressed and never shrinks.
    fn of(location: &'static Location<'static>) -> &'static Self {
        let place =
            location.line() as usize * 31 + location.column() as usize + location.file().len();
        let mut lines = (0..MOST).map(|step| &LINES[(place + step) % MOST]);
        let found = lines.find(|line| *line.location.get_or_init(|| location) == location);
        found.unwrap_or(&LINES[place % MOST])
    }

    fn arm(&self, deadline: Tick) {
        self.armed.fetch_add(1, Relaxed);
        let duration = deadline.saturating_since(Tick::now()).as_micros() as u64;
        let (often, last) =
            &self.durations[CLASSES - 1 - duration.leading_zeros() as usize % CLASSES];
        often.fetch_add(1, Relaxed);
        last.store(duration, Relaxed);
    }

    /// Returns a duration of the class that is most frequent.
    fn usual(&self) -> u64 {
        let most = self.durations.iter().max_by_key(|(often, _)| often.load(Relaxed));
        most.map_or(0, |(_, last)| last.load(Relaxed))
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
        match self.is_armed.swap(true, Relaxed) {
            true => _ = self.line.reset.fetch_add(1, Relaxed),
            false => self.line.arm(deadline),
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

pub(super) fn text(_drivers: &[crate::WheelMetrics]) -> String {
    let lines = LINES.iter().filter_map(|line| Some((line, line.location.get()?)));
    let lines = lines.map(|(line, location)| {
        let read = |count: &AtomicU64| count.load(Relaxed);
        let (armed, cancelled) = (read(&line.armed), read(&line.cancelled));
        let (fired, reset, usual) = (read(&line.fired), read(&line.reset), line.usual());
        format!(
            "{armed}\t{cancelled}\t{fired}\t{reset}\t{usual}\t{}:{}\n",
            location.file(),
            location.line()
        )
    });
    lines.collect()
}
