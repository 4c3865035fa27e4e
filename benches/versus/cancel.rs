//! Timers that are armed and soon cancelled, as the timeouts of a service are.

use std::future::{Future, ready};
use std::hint::black_box;
use std::pin::pin;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

use timers::arm;
use timers::shapes::Shape;
use wheel::WheelMetrics;

use crate::figure::Measured;
use crate::peer::{Peer, Wheel};
use crate::stage::{Delays, Stage, each};

/// Of each worker.
const COUNT: usize = 400_000;

/// Arm and cancel, each worker on its own; `others` stay pending all the while.
pub(crate) fn register_cancel<P: Peer>(workers: usize, others: usize) -> Measured {
    Measured::cancelled([cost::<P>(workers, others)], COUNT * workers)
}

/// The throughput of two workers over that of one.
pub(crate) fn scaling<P: Peer>() -> Measured {
    let (one, two) = (cost::<P>(1, 0), cost::<P>(2, 0));
    Measured::cancelled([2.0 * one / two], 3 * COUNT)
}

/// Nanoseconds per timer of the slowest worker.
fn cost<P: Peer>(workers: usize, others: usize) -> f64 {
    let stage = Stage::new::<P>(workers);
    let crowd = stage.crowd::<P>(others);
    let costs = stage.on_each_worker::<P, _>(|cx, barrier| arm_and_cancel::<P>(cx, barrier, COUNT));
    drop(crowd);
    costs.into_iter().fold(0.0, f64::max)
}

fn arm_and_cancel<P: Peer>(cx: &mut Context<'_>, barrier: &Barrier, count: usize) -> f64 {
    let delays = Delays::new();
    cancel_loop::<P>(cx, &delays, count / 10);
    barrier.wait();
    let begin = Instant::now();
    cancel_loop::<P>(cx, &delays, count);
    begin.elapsed().as_nanos() as f64 / count as f64
}

fn cancel_loop<P: Peer>(cx: &mut Context<'_>, delays: &Delays, count: usize) {
    for index in 0..count {
        let sleep = pin!(P::sleep(delays.get(index)));
        arm(black_box(sleep), cx);
    }
}

/// What it costs to be watched: metrics are read a thousand times a second, ten thousand times more often than a scraper
/// reads them.
pub(crate) fn scrape(is_watched: bool) -> Measured {
    const EACH: usize = 2_000_000;
    let stage = Stage::new::<Wheel>(1);
    let metrics = stage.run(async { wheel::metrics() });
    let before = metrics.snapshot().cancelled;
    let goes_on = AtomicBool::new(is_watched);
    let costs = thread::scope(|scope| {
        scope.spawn(|| read_often(&metrics, &goes_on));
        let costs = stage
            .on_each_worker::<Wheel, _>(|cx, barrier| arm_and_cancel::<Wheel>(cx, barrier, EACH));
        goes_on.store(false, Ordering::Relaxed);
        costs
    });
    // The first tenth is for warming up.
    let cancelled = metrics.snapshot().cancelled - before;
    assert_eq!(cancelled, (EACH + EACH / 10) as u64, "counted and done");
    Measured::cancelled(costs, EACH)
}

fn read_often(metrics: &WheelMetrics, goes_on: &AtomicBool) {
    while goes_on.load(Ordering::Relaxed) {
        let now = metrics.snapshot();
        let accounted = now.fired + now.cancelled + now.pending as u64;
        assert_eq!(now.registered, accounted, "the counts balance");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Tasks that move between workers while their timers are pending: a service in small on a current-thread runtime, which
/// has no workers, or on as many workers.
pub(crate) fn moving<P: Peer>(shape: Shape, workers: usize) -> Measured {
    const MOVING: usize = 200_000;
    let stage = Stage::new::<P>(workers);
    let play = |count| stage.run(shape.play(P::sleep, workers.max(1), count));
    play(MOVING / 10);
    let begin = Instant::now();
    let count = play(MOVING);
    let cost = begin.elapsed().as_nanos() as f64 / count as f64;
    Measured::cancelled([cost], count as usize)
}

/// Every timer is due before all that were armed before it, so the alarm has to move each time.
pub(crate) fn earliest<P: Peer>() -> Measured {
    const TIMERS: usize = 100_000;
    let stage = Stage::bare::<P>(1);
    let far = stage.crowd::<P>(1);
    let cost = stage.on_worker(|cx| {
        let mut at = tokio::time::Instant::now() + Duration::from_secs(1700);
        each(TIMERS, |some| {
            for _ in 0..some {
                at -= Duration::from_millis(1);
                arm(black_box(pin!(P::sleep_until(at))), cx);
            }
        })
    });
    drop(far);
    Measured::cancelled([cost], TIMERS)
}

/// `timeout` around a future that is ready: the timer is never needed.
pub(crate) fn ready_timeout<P: Peer>() -> Measured {
    let (cost, passed) = Stage::new::<P>(1).on_worker(|cx| {
        let mut passed = 0;
        let cost = each(2_000_000, |some| passed += ready_timeouts::<P>(cx, some));
        (cost, passed)
    });
    Measured::cancelled([cost], passed)
}

fn ready_timeouts<P: Peer>(cx: &mut Context<'_>, count: usize) -> usize {
    let mut passed = 0;
    for _ in 0..count {
        let timeout = pin!(P::timeout(Duration::from_secs(5), ready(black_box(1))));
        if let Poll::Ready(Ok(one)) = timeout.poll(cx) {
            passed += one;
        }
    }
    passed
}
