//! Measures how late a sleeping task runs, in an idle runtime and in a busy one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hdrhistogram::Histogram;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use timers::Timers;
use tokio::task::{JoinSet, yield_now};
use tokio::time::Instant;

use crate::benchmark::{Measured, Value};
use crate::stage::{Stage, WORKERS, compute, worker_cpu};

/// Measures how late repeated sleeps end: the median, and in a busy runtime the 99th percentile, in an idle one the
/// workers' CPU time for each sleep. In a busy runtime, more tasks compute than there are workers.
pub(crate) fn lateness<T: Timers>(is_busy: bool) -> Measured {
    let (burners, sleepers, rounds) = if is_busy { (8, 40, 150) } else { (0, 100, 200) };
    let stage = Stage::new::<T>(WORKERS);
    let stop = Arc::new(AtomicBool::new(false));
    for seed in 0..burners {
        stage.runtime.spawn(burn::<T>(seed, Arc::clone(&stop)));
    }
    let before = worker_cpu();
    let all = stage.run(async move {
        let tasks = (0..sleepers).map(|seed| sleep_often::<T>(seed, rounds));
        tasks.collect::<JoinSet<_>>().join_all().await
    });
    let mut late = Histogram::new(3).expect("a histogram");
    for one in all {
        late.add(one).expect("equal histograms");
    }
    let each = (worker_cpu() - before) / late.len() as f64;
    stop.store(true, Ordering::Relaxed);
    let at = |quantile| late.value_at_quantile(quantile) as f64;
    let second = match is_busy {
        true => Value::nanos("p99", at(0.99)),
        false => Value::nanos("CPU", each),
    };
    Measured::fired([Value::nanos("p50", at(0.5)), second], late.len())
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

/// Sleeps `rounds` times for 1–20 ms, and records how late it woke.
async fn sleep_often<T: Timers>(seed: u64, rounds: usize) -> Histogram<u64> {
    let mut rng = SmallRng::seed_from_u64(seed);
    let mut late = Histogram::new(3).expect("a histogram");
    for _ in 0..rounds {
        let at = Instant::now() + Duration::from_micros(rng.random_range(1_000..20_000));
        T::sleep_until(at).await;
        let now = Instant::now();
        assert!(now >= at, "{} woke a sleeper {:?} early", T::NAME, at - now);
        let late_by = (now - at).as_nanos() as u64;
        late.record(late_by).expect("a lateness");
    }
    late
}
