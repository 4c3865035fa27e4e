//! Measures how long a task waits in one operation on a timer of its own while a million timers fire.
//!
//! The million is armed on all workers, so that each worker's timers fire for a while. Every 30 µs a task arms a timer,
//! polls it again with another waker, resets it and drops it, and measures each operation. The wakers are those of
//! tasks, `Waker::noop()` (and then a counting one), and wakers that belong to no task, as in a `FuturesUnordered`. The
//! longest time with any of the three is the result.

use std::future::poll_fn;
use std::hint::black_box;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant as StdInstant};

use common::compute;
use timers::Timers;
use timers::expiry::Count;
use timers::{arm, on_task};
use tokio::task::coop::unconstrained;
use tokio::task::yield_now;
use tokio::time::Instant;

use crate::benchmark::{Measured, Value};
use crate::stage::{Stage, WORKERS, crowd};

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

const OPERATIONS: [&str; 4] = ["arm", "poll, new waker", "reset earlier", "drop"];

/// The longest time of each operation, in nanoseconds.
type Waits = [u64; OPERATIONS.len()];

/// The wakers with which a timer is polled, one after the other.
type Wakers = [Waker; 2];

/// Measures the longest time of each operation.
pub(crate) fn waits<T: Timers>() -> Measured {
    let (mut longest, mut fired) = (Waits::default(), 0);
    for wakers in [tasks as fn(&Stage) -> Wakers, noop, own] {
        let stage = Stage::new::<T>(WORKERS);
        let wakers = wakers(&stage);
        for _ in 0..MILLIONS {
            let (some, count) = while_a_million_fires::<T>(&stage, wakers.clone());
            fired += count;
            longest = std::array::from_fn(|at| longest[at].max(some[at]));
        }
    }
    let nanos = |operation, longest| Value::nanos(format!("{operation}, longest"), longest as f64);
    let values: [Value; OPERATIONS.len()] =
        std::array::from_fn(|at| nanos(OPERATIONS[at], longest[at]));
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

fn while_a_million_fires<T: Timers>(stage: &Stage, wakers: Wakers) -> (Waits, u64) {
    let (fired, due) = (Arc::new(Count::default()), Instant::now() + LEAD);
    let count = MILLION / WORKERS;
    let waker = Waker::from(Arc::clone(&fired));
    let sleeps = stage.on_each_worker::<T, _>(move |_, _| {
        crowd::<T>(&mut Context::from_waker(&waker), count, due, SPREAD)
    });
    assert!(Instant::now() < due, "arming took too long");
    thread::sleep(due.saturating_duration_since(Instant::now()));
    let waits = stage.run(operate::<T>(wakers, Arc::clone(&fired), count * WORKERS));
    drop(sleeps);
    (waits, fired.get() as u64)
}

/// Operates on timers until all others have fired.
async fn operate<T: Timers>(wakers: Wakers, fired: Arc<Count>, armed: usize) -> Waits {
    let mut waits = Waits::default();
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

fn once<T: Timers>(wakers: &Wakers, waits: &mut Waits) {
    let begin = StdInstant::now();
    let [first, second] = wakers;
    let mut last = begin;
    let mut lap = |operation: usize| {
        let now = StdInstant::now();
        let wait = (now - last).as_nanos() as u64;
        waits[operation] = waits[operation].max(wait);
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
    compute(BETWEEN.saturating_sub(begin.elapsed()));
}
