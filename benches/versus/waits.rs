//! Measures how long a task waits in one operation on a timer of its own while a million timers fire.
//!
//! The million is armed on all workers, so that each worker's timers fire for a while. Every 30 µs a task arms a timer,
//! polls it again with another waker, resets it and drops it, and measures each operation. The wakers are those of
//! tasks, `Waker::noop()` (and then a counting one), and wakers that belong to no task, as in a `FuturesUnordered`. The
//! slowest of the three is the result.

use std::future::poll_fn;
use std::hint::black_box;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant as StdInstant};

use hdrhistogram::Histogram;
use timers::Timers;
use timers::expiry::Count;
use timers::{arm, on_task};
use tokio::task::coop::unconstrained;
use tokio::task::yield_now;
use tokio::time::Instant;

use crate::benchmark::{Measured, Value};
use crate::stage::{Stage, crowd};

const MILLION: usize = 1_000_000;
/// Number of mass expiries for each kind of waker. One is over after a few thousand operations.
const MILLIONS: usize = 4;
/// Time to arm all of a million before the first is due.
const LEAD: Duration = Duration::from_millis(1500);
const SPREAD: Duration = Duration::from_millis(1);
const BETWEEN: Duration = Duration::from_micros(30);
/// Iterations between two yields. In a yield, the worker can fire timers.
const BATCH: usize = 30;
const FAR: Duration = Duration::from_secs(600);
const LOST: Duration = Duration::from_secs(60);

const OPERATIONS: [&str; 4] = ["arm", "poll again", "reset", "drop"];

type Waits = [Histogram<u64>; OPERATIONS.len()];

/// The wakers with which a timer is polled, one after the other.
type Wakers = [Waker; 2];

/// Measures the 99.99th percentile and the longest time of each operation.
pub(crate) fn waits<T: Timers>(workers: usize) -> Measured {
    let (mut slowest, mut fired) = ([[0_u64; 2]; OPERATIONS.len()], 0);
    for wakers in [tasks as fn(&Stage) -> Wakers, noop, own] {
        let stage = Stage::new::<T>(workers);
        let (wakers, mut waits) = (wakers(&stage), histograms());
        for _ in 0..MILLIONS {
            let (some, count) = while_a_million_fires::<T>(&stage, workers, wakers.clone());
            fired += count;
            for (waits, some) in waits.iter_mut().zip(some) {
                waits.add(some).expect("equal histograms");
            }
        }
        for (slowest, waits) in slowest.iter_mut().zip(&waits) {
            let seen = [waits.value_at_quantile(0.9999), waits.max()];
            *slowest = std::array::from_fn(|at| slowest[at].max(seen[at]));
        }
    }
    let mut values = Vec::new();
    for (operation, [most, longest]) in OPERATIONS.into_iter().zip(slowest) {
        values.push(Value::nanos(format!("{operation}, p99.99"), most as f64));
        values.push(Value::nanos(
            format!("{operation}, longest"),
            longest as f64,
        ));
    }
    Measured::fired(values, fired)
}

fn tasks(stage: &Stage) -> Wakers {
    [(); 2].map(|()| stage.run(poll_fn(|cx| Poll::Ready(cx.waker().clone()))))
}

fn noop(_: &Stage) -> Wakers {
    [
        Waker::noop().clone(),
        Waker::from(Arc::new(Count::default())),
    ]
}

fn own(_: &Stage) -> Wakers {
    [(); 2].map(|()| Waker::from(Arc::new(Count::default())))
}

fn while_a_million_fires<T: Timers>(stage: &Stage, workers: usize, wakers: Wakers) -> (Waits, u64) {
    let (fired, due) = (Arc::new(Count::default()), Instant::now() + LEAD);
    let count = MILLION / workers;
    let waker = Waker::from(Arc::clone(&fired));
    let sleeps = stage.on_each_worker::<T, _>(move |_, _| {
        crowd::<T>(&mut Context::from_waker(&waker), count, due, SPREAD)
    });
    assert!(Instant::now() < due, "arming took too long");
    thread::sleep(due.saturating_duration_since(Instant::now()));
    let waits = stage.run(operate::<T>(wakers, Arc::clone(&fired), count * workers));
    drop(sleeps);
    (waits, fired.get() as u64)
}

/// Operates on timers until all others have fired.
async fn operate<T: Timers>(wakers: Wakers, fired: Arc<Count>, armed: usize) -> Waits {
    let mut waits = histograms();
    let began = Instant::now();
    while fired.get() < armed {
        assert!(began.elapsed() < LOST, "{}: a timer was lost", T::NAME);
        let batch = on_task(|_| {
            for _ in 0..BATCH {
                once::<T>(&wakers, &mut waits);
            }
        });
        unconstrained(batch).await;
        yield_now().await;
    }
    waits
}

fn histograms() -> Waits {
    std::array::from_fn(|_| Histogram::new(3).expect("a histogram"))
}

fn once<T: Timers>(wakers: &Wakers, waits: &mut Waits) {
    let begin = StdInstant::now();
    let [first, second] = wakers;
    let mut last = begin;
    let mut lap = |operation: usize| {
        let now = StdInstant::now();
        let wait = (now - last).as_nanos() as u64;
        waits[operation].record(wait).expect("a wait");
        last = now;
    };
    {
        let mut sleep = pin!(T::sleep(black_box(FAR)));
        arm(sleep.as_mut(), &mut Context::from_waker(first));
        lap(0);
        arm(sleep.as_mut(), &mut Context::from_waker(second));
        lap(1);
        T::reset(sleep.as_mut(), Instant::now() + FAR / 2);
        lap(2);
    }
    lap(3);
    while begin.elapsed() < BETWEEN {
        std::hint::spin_loop();
    }
}
