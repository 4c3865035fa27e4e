//! Timers that are armed and soon cancelled, as the timeouts of a service are.

use std::future::{Future, ready};
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use rand::seq::SliceRandom as _;
use timers::shapes::Shape;
use timers::{Timers, arm};

use crate::benchmark::{Measured, Value};
use crate::stage::{DELAYS, Stage, delays, each, each_after, seeded};

/// Arms and cancels, each worker on its own. The slowest worker counts.
pub(crate) fn register_cancel<T: Timers>(workers: usize) -> Measured {
    /// Number of timers per worker.
    const COUNT: usize = 400_000;
    let stage = Stage::new::<T>(workers);
    let costs = stage.on_each_worker::<T, _>(|cx, barrier| {
        let (delays, start) = (delays(), || _ = barrier.wait());
        each_after(COUNT, start, |some| cancel_loop::<T>(cx, &delays, some))
    });
    let slowest = costs.into_iter().fold(0.0, f64::max);
    Measured::cancelled([Value::nanos("time per timer", slowest)], COUNT * workers)
}

fn cancel_loop<T: Timers>(cx: &mut Context<'_>, delays: &[Duration; DELAYS], count: usize) {
    for index in 0..count {
        let sleep = pin!(T::sleep(delays[index % DELAYS]));
        arm(black_box(sleep), cx);
    }
}

/// Cancels a million pending timers, in another order than they were armed.
pub(crate) fn cancel_in_random_order<T: Timers>() -> Measured {
    const TIMERS: usize = 1_000_000;
    let stage = Stage::new::<T>(1);
    let mut crowd = stage.crowd::<T>(TIMERS);
    crowd.shuffle(&mut seeded());
    let all = stage.on_worker(|_| {
        let begin = Instant::now();
        drop(crowd);
        begin.elapsed()
    });
    let cost = all.as_nanos() as f64 / TIMERS as f64;
    Measured::cancelled([Value::nanos("time per timer", cost)], TIMERS)
}

/// Runs a small service, whose tasks move between workers while their timers are pending.
pub(crate) fn moving<T: Timers>(workers: usize, shape: Shape) -> Measured {
    const MOVING: usize = 200_000;
    let stage = Stage::new::<T>(workers);
    let play = |count| stage.run(shape.play::<T>(count));
    play(MOVING / 10);
    let begin = Instant::now();
    let count = play(MOVING);
    let cost = begin.elapsed().as_nanos() as f64 / count as f64;
    Measured::cancelled([Value::nanos("time per operation", cost)], count as usize)
}

/// Arms and cancels timers, each due before all those so far, so each re-arms the alarm.
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
    Measured::cancelled([Value::nanos("time per timer", cost)], TIMERS)
}

/// Makes timeouts around a future that is ready, which need no timer.
pub(crate) fn ready_pending<T: Timers>() -> Measured {
    let (cost, passed) = Stage::new::<T>(1).on_worker(move |cx| {
        let mut passed = 0;
        let cost = each(2_000_000, |some| {
            for _ in 0..some {
                let timeout = T::timeout_if_pending(Duration::from_secs(5), ready(black_box(1)));
                let timeout = pin!(timeout);
                if let Poll::Ready(Ok(one)) = timeout.poll(cx) {
                    passed += one;
                }
            }
        });
        (cost, passed)
    });
    Measured::cancelled([Value::nanos("time per timeout", cost)], passed)
}
