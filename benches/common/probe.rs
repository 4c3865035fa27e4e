//! Requests at fixed times, from a thread outside the runtime, and how long they took.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// When a request or a timer was due, and when its answer came or the task woke.
pub type Wait = (Instant, Instant);

/// A thread that sends requests, until it is asked for their times.
#[derive(Debug)]
pub struct Probe {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Wait>>,
}

impl Probe {
    /// Starts the thread. If an answer is late, the next requests are sent late, but count from when they were due.
    pub fn start(every: Duration, mut request: impl FnMut() + Send + 'static) -> Self {
        let stop = Arc::<AtomicBool>::default();
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let (mut due, mut requests) = (Instant::now(), Vec::new());
            while !stopped.load(Ordering::Relaxed) {
                due += every;
                thread::sleep(due.saturating_duration_since(Instant::now()));
                request();
                requests.push((due, Instant::now()));
            }
            requests
        });
        Probe { stop, thread }
    }

    /// Ends the thread, and returns when its requests were due and answered.
    pub fn stop(self) -> Vec<Wait> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("a probe")
    }
}

/// Returns how long the waits took that were under way then, in nanoseconds, from the shortest to the longest.
pub fn between(waits: Vec<Wait>, begin: Instant, end: Instant) -> Vec<u128> {
    let waits = waits.into_iter();
    let under_way = waits.filter(|&(due, over)| over >= begin && due <= end);
    let mut took: Vec<_> = under_way
        .map(|(due, over)| (over - due).as_nanos())
        .collect();
    took.sort_unstable();
    took
}

/// Returns the value below which this share of sorted values lies.
pub fn quantile(sorted: &[u128], share: f64) -> u128 {
    let last = sorted.len().saturating_sub(1);
    sorted
        .get((last as f64 * share).round() as usize)
        .copied()
        .unwrap_or(0)
}
