//! Timers that are armed and soon cancelled, as the timeouts of a service are.

use std::future::{Future, ready};
use std::hint::black_box;
use std::pin::pin;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

use timers::shapes::Shape;
use timers::{Timers, Wheel, arm};

use crate::figure::Measured;
use crate::stage::{DELAYS, Stage, delays, each};

/// Of each worker.
const COUNT: usize = 400_000;

/// Arm and cancel, each worker on its own; `others` stay pending all the while.
pub(crate) fn register_cancel<T: Timers>(workers: usize, others: usize) -> Measured {
    Measured::cancelled([cost::<T>(workers, others)], COUNT * workers)
}

/// The throughput of two workers over that of one.
pub(crate) fn scaling<T: Timers>() -> Measured {
    let (one, two) = (cost::<T>(1, 0), cost::<T>(2, 0));
    Measured::cancelled([2.0 * one / two], 3 * COUNT)
}

/// Nanoseconds per timer of the slowest worker.
fn cost<T: Timers>(workers: usize, others: usize) -> f64 {
    let stage = Stage::new::<T>(workers);
    let crowd = stage.crowd::<T>(others);
    let costs = stage.on_each_worker::<T, _>(|cx, barrier| arm_and_cancel::<T>(cx, barrier, COUNT));
    drop(crowd);
    costs.into_iter().fold(0.0, f64::max)
}

fn arm_and_cancel<T: Timers>(cx: &mut Context<'_>, barrier: &Barrier, count: usize) -> f64 {
    let delays = delays();
    cancel_loop::<T>(cx, &delays, count / 10);
    barrier.wait();
    let begin = Instant::now();
    cancel_loop::<T>(cx, &delays, count);
    begin.elapsed().as_nanos() as f64 / count as f64
}

fn cancel_loop<T: Timers>(cx: &mut Context<'_>, delays: &[Duration; DELAYS], count: usize) {
    for index in 0..count {
        let sleep = pin!(T::sleep(delays[index % DELAYS]));
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
        scope.spawn(|| {
            while goes_on.load(Ordering::Relaxed) {
                let now = metrics.snapshot();
                let accounted = now.fired + now.cancelled + now.pending as u64;
                assert_eq!(now.registered, accounted, "the counts balance");
                thread::sleep(Duration::from_millis(1));
            }
        });
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

/// Tasks that move between workers while their timers are pending: a service in small on a current-thread runtime, which
/// has no workers, or on as many workers.
pub(crate) fn moving<T: Timers>(shape: Shape, workers: usize) -> Measured {
    const MOVING: usize = 200_000;
    let stage = Stage::new::<T>(workers);
    let play = |count| stage.run(shape.play::<T>(workers.max(1), count));
    play(MOVING / 10);
    let begin = Instant::now();
    let count = play(MOVING);
    let cost = begin.elapsed().as_nanos() as f64 / count as f64;
    Measured::cancelled([cost], count as usize)
}

/// Every timer is due before all that were armed before it, so the alarm has to move each time.
pub(crate) fn earliest<T: Timers>() -> Measured {
    const TIMERS: usize = 100_000;
    let stage = Stage::bare::<T>(1);
    let far = stage.crowd::<T>(1);
    let cost = stage.on_worker(|cx| {
        let mut at = tokio::time::Instant::now() + Duration::from_secs(1700);
        each(TIMERS, |some| {
            for _ in 0..some {
                at -= Duration::from_millis(1);
                arm(black_box(pin!(T::sleep_until(at))), cx);
            }
        })
    });
    drop(far);
    Measured::cancelled([cost], TIMERS)
}

/// `timeout` around a future that is ready: the timer is never needed. On a worker, or on a current-thread runtime.
pub(crate) fn ready_timeout<T: Timers>(workers: usize) -> Measured {
    let (cost, passed) = Stage::new::<T>(workers).on_worker(|cx| {
        let mut passed = 0;
        let cost = each(2_000_000, |some| {
            for _ in 0..some {
                let timeout = pin!(T::timeout(Duration::from_secs(5), ready(black_box(1))));
                if let Poll::Ready(Ok(one)) = timeout.poll(cx) {
                    passed += one;
                }
            }
        });
        (cost, passed)
    });
    Measured::cancelled([cost], passed)
}
