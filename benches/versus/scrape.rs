//! What it costs to be watched: timers armed and cancelled while their metrics are read a thousand times a second, which
//! is ten thousand times more often than a scraper does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use wheel::WheelMetrics;

use crate::cancel::register_cancel;
use crate::figure::{Did, Measured, Scale};
use crate::peer::Wheel;
use crate::race::Sides;
use crate::stage::Stage;

const EVERY: Duration = Duration::from_millis(1);

pub(crate) fn sides() -> Sides {
    Sides(Vec::new())
        .and_run("watched", |scale| measure(scale, Scraper::start))
        .and_run("unwatched", |scale| measure(scale, |_| ()))
}

fn measure<S>(scale: Scale, scraper: impl FnOnce(WheelMetrics) -> S) -> Measured {
    let each = scale.of(2_000_000);
    let stage = Stage::new::<Wheel>(1);
    let metrics = stage.run(async { wheel::metrics() });
    let before = metrics.snapshot().cancelled;
    let scraper = scraper(metrics.clone());
    let costs = stage
        .on_each_worker::<Wheel, _>(move |cx, barrier| register_cancel::<Wheel>(cx, barrier, each));
    drop(scraper);
    // The first tenth is for warming up.
    let cancelled = metrics.snapshot().cancelled - before;
    assert_eq!(cancelled, (each + each / 10) as u64, "counted and done");
    Measured::new(costs, Did::cancelled(cancelled))
}

/// A thread that reads the metrics until this is dropped.
struct Scraper {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<u64>>,
}

impl Scraper {
    fn start(metrics: WheelMetrics) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let thread = thread::spawn({
            let over = Arc::clone(&over);
            move || scrape(&metrics, &over)
        });
        Scraper {
            over,
            thread: Some(thread),
        }
    }
}

impl Drop for Scraper {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        let scrapes = self.thread.take().and_then(|thread| thread.join().ok());
        assert!(scrapes > Some(0), "nothing was watching");
    }
}

fn scrape(metrics: &WheelMetrics, over: &AtomicBool) -> u64 {
    let mut scrapes = 0;
    while !over.load(Ordering::Relaxed) {
        let now = metrics.snapshot();
        let accounted = now.fired + now.cancelled + now.pending as u64;
        assert_eq!(now.registered, accounted, "the counts balance");
        scrapes += 1;
        thread::sleep(EVERY);
    }
    scrapes
}
