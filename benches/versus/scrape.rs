//! What it costs to be watched: timers armed and cancelled while their metrics are read a thousand times a second, which
//! is ten thousand times more often than a scraper does.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
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
        .and_run("watched", |scale| measure(scale, true))
        .and_run("unwatched", |scale| measure(scale, false))
}

fn measure(scale: Scale, is_watched: bool) -> Measured {
    let each = scale.of(2_000_000);
    let stage = Stage::new::<Wheel>(1);
    let metrics = stage.run(async { wheel::metrics() });
    let before = metrics.snapshot().cancelled;
    let goes_on = AtomicBool::new(is_watched);
    let costs = thread::scope(|scope| {
        scope.spawn(|| scrape(&metrics, &goes_on));
        let costs = stage.on_each_worker::<Wheel, _>(move |cx, barrier| {
            register_cancel::<Wheel>(cx, barrier, each)
        });
        goes_on.store(false, Ordering::Relaxed);
        costs
    });
    // The first tenth is for warming up.
    let cancelled = metrics.snapshot().cancelled - before;
    assert_eq!(cancelled, (each + each / 10) as u64, "counted and done");
    Measured::new(costs, Did::cancelled(cancelled))
}

fn scrape(metrics: &WheelMetrics, goes_on: &AtomicBool) {
    while goes_on.load(Ordering::Relaxed) {
        let now = metrics.snapshot();
        let accounted = now.fired + now.cancelled + now.pending as u64;
        assert_eq!(now.registered, accounted, "the counts balance");
        thread::sleep(EVERY);
    }
}
