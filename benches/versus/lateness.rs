//! Measures how late a sleeping task runs, in an idle runtime and in a busy one.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use common::compute;
use hdrhistogram::Histogram;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use timers::Timers;
use tokio::task::{JoinSet, yield_now};
use tokio::time::Instant;

use crate::benchmark::{Measured, Value};
use crate::stage::{Stage, WORKERS, worker_cpu};

/// How long each task sleeps in all.
const TIME: Duration = Duration::from_millis(1_500);

/// Measures how late repeated sleeps of so many milliseconds end: the median and the 99th percentile. In an idle runtime, the
/// third value is the workers' CPU time for each sleep. In a busy one, more tasks compute than there are workers.
pub(crate) fn lateness<T: Timers>(burners: u64, sleepers: u64, millis: Range<u64>) -> Measured {
    let stage = Stage::new::<T>(WORKERS);
    let stop = Arc::new(AtomicBool::new(false));
    for seed in 0..burners {
        stage.runtime.spawn(burn::<T>(seed, Arc::clone(&stop)));
    }
    let before = worker_cpu();
    let all = stage.run(async move {
        let tasks = (0..sleepers).map(|seed| sleep_often::<T>(seed, millis.clone()));
        tasks.collect::<JoinSet<_>>().join_all().await
    });
    let mut late = Histogram::new(3).expect("a histogram");
    for one in all {
        late.add(one).expect("equal histograms");
    }
    let each = (worker_cpu() - before) / late.len() as f64;
    stop.store(true, Ordering::Relaxed);
    let at = |what, part| Value::nanos(what, late.value_at_quantile(part) as f64);
    let mut values = vec![
        at("lateness, median", 0.5),
        at("lateness, 99th percentile", 0.99),
    ];
    values.extend((burners == 0).then(|| Value::nanos("CPU per sleep", each)));
    Measured::fired(values, late.len())
}

/// Computes for 50–100 µs at a time, and then yields under a timeout, as a request would.
async fn burn<T: Timers>(seed: u64, stop: Arc<AtomicBool>) {
    let mut rng = SmallRng::seed_from_u64(seed);
    while !stop.load(Ordering::Relaxed) {
        compute(Duration::from_micros(rng.random_range(50..100)));
        let answer = T::timeout(Duration::from_secs(30), yield_now()).await;
        assert!(answer.is_ok(), "{} was early", T::NAME);
    }
}

/// Sleeps again and again, and records how late it woke. Resets one timer, because the timers of another crate open a
/// descriptor.
async fn sleep_often<T: Timers>(seed: u64, millis: Range<u64>) -> Histogram<u64> {
    let mut rng = SmallRng::seed_from_u64(seed);
    let mut late = Histogram::new(3).expect("a histogram");
    let (micros, mut slept) = (1_000 * millis.start..1_000 * millis.end, Duration::ZERO);
    let mut sleep = Box::pin(T::sleep(Duration::ZERO));
    while slept < TIME {
        let after = Duration::from_micros(rng.random_range(micros.clone()));
        let at = Instant::now() + after;
        T::reset(sleep.as_mut(), at);
        sleep.as_mut().await;
        let now = Instant::now();
        assert!(now >= at, "{} woke a sleeper {:?} early", T::NAME, at - now);
        late.record((now - at).as_nanos() as u64)
            .expect("a lateness");
        slept += after;
    }
    late
}
