//! Counts for `cargo wheel`, whose copy of this crate is built with `cfg(wheel_counts)`.
//!
//! If the environment variable `CARGO_WHEEL_REPORT` names a folder, each process writes a file there,
//! five times a second and when a driver ends: its age in microseconds, a line for each driver, and
//! with `CARGO_WHEEL_LINES` a line for each line of code that arms timers. A line has four numbers
//! and a place: armed, cancelled, fired, and the sum of the durations in microseconds.

use std::collections::BTreeMap;
use std::panic::Location;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{LazyLock, Mutex, RwLock};
use std::task::Poll;
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

use tokio::runtime::Handle;

use super::chosen;
use crate::clock::Tick;

const PAUSE: Duration = Duration::from_millis(200);

static DRIVERS: Mutex<Vec<crate::Metrics>> = Mutex::new(Vec::new());

static COUNTS_LINES: LazyLock<bool> = LazyLock::new(|| env::var_os("CARGO_WHEEL_LINES").is_some());

static LINES: RwLock<BTreeMap<&Location<'_>, &Line>> = RwLock::new(BTreeMap::new());

/// When the first driver started.
static START: LazyLock<Instant> = LazyLock::new(|| {
    thread::spawn(|| {
        loop {
            thread::sleep(PAUSE);
            write();
        }
    });
    Instant::now()
});

#[derive(Debug, Default)]
struct Line {
    armed: AtomicU64,
    cancelled: AtomicU64,
    fired: AtomicU64,
    micros: AtomicU64,
}

impl Line {
    fn of(location: &'static Location<'static>) -> &'static Self {
        let found = LINES.read().expect("not poisoned").get(location).copied();
        found.unwrap_or_else(|| {
            let mut lines = LINES.write().expect("not poisoned");
            lines
                .entry(location)
                .or_insert_with(|| Box::leak(Box::default()))
        })
    }
}

/// The timer of a `Sleep`, beside it.
#[derive(Debug)]
pub(crate) struct Operation {
    line: Option<&'static Line>,
    is_armed: AtomicBool,
}

pub(crate) struct Polling<'a>(&'a Operation);

impl Operation {
    #[inline]
    #[track_caller]
    pub(crate) fn new_sleep() -> Self {
        let caller = Location::caller();
        let line = COUNTS_LINES.then(|| Line::of(caller));
        let is_armed = AtomicBool::new(false);
        Operation { line, is_armed }
    }

    #[inline]
    pub(crate) fn reset(&mut self, deadline: Tick) {
        if !self.is_armed.load(Relaxed) {
            self.arm(deadline);
        }
    }

    /// A timer that is registered although it was armed has been cancelled by a lazy reset.
    #[inline]
    pub(crate) fn poll(&self, _in_budget: bool, registers: Option<Tick>) -> Polling<'_> {
        if let Some(deadline) = registers {
            self.end(|line| &line.cancelled);
            self.arm(deadline);
        }
        Polling(self)
    }

    fn arm(&self, deadline: Tick) {
        if let Some(line) = self.line {
            self.is_armed.store(true, Relaxed);
            line.armed.fetch_add(1, Relaxed);
            let duration = deadline.saturating_since(Tick::now());
            line.micros.fetch_add(duration.as_micros() as u64, Relaxed);
        }
    }

    fn end(&self, count: impl FnOnce(&Line) -> &AtomicU64) {
        if let Some(line) = self.line.filter(|_| self.is_armed.swap(false, Relaxed)) {
            count(line).fetch_add(1, Relaxed);
        }
    }
}

impl Drop for Operation {
    #[inline]
    fn drop(&mut self) {
        self.end(|line| &line.cancelled);
    }
}

impl Polling<'_> {
    #[inline]
    pub(crate) fn end(self, polled: Poll<()>) -> Poll<()> {
        if polled.is_ready() {
            self.0.end(|line| &line.fired);
        }
        polled
    }
}

#[track_caller]
pub(crate) fn spawn(task: impl Future<Output = ()> + Send + 'static, handle: &Handle) {
    DRIVERS.lock().expect("not poisoned").push(crate::metrics());
    LazyLock::force(&START);
    let reported = async {
        // Dropped after the task, which is the driver.
        let _end = End;
        task.await;
    };
    chosen::spawn(reported, handle);
}

struct End;

impl Drop for End {
    fn drop(&mut self) {
        write();
    }
}

/// A file appears as a whole, because it is renamed.
fn write() {
    let Some(folder) = env::var_os("CARGO_WHEEL_REPORT").map(PathBuf::from) else {
        return;
    };
    // The lock is held until the end, so that one thread writes at a time.
    let drivers = DRIVERS.lock().expect("not poisoned");
    let mut text = format!("{}\n", START.elapsed().as_micros());
    for driver in drivers.iter() {
        let now = driver.snapshot();
        text += &format!("{}\t{}\t{}\t0\t\n", now.armed, now.cancelled, now.fired);
    }
    for (at, line) in LINES.read().expect("not poisoned").iter() {
        let counts = [&line.armed, &line.cancelled, &line.fired, &line.micros];
        let counts = counts.map(|count| count.load(Relaxed).to_string());
        text += &format!("{}\t{}:{}\n", counts.join("\t"), at.file(), at.line());
    }
    let file = folder.join(process::id().to_string());
    let new = file.with_extension("new");
    // A folder that is gone means that nobody reads any more.
    let _ = fs::write(&new, text).and_then(|()| fs::rename(&new, &file));
}
