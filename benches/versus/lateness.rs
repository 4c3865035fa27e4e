//! How late a sleeping task runs, in a quiet runtime and in a busy one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hdrhistogram::Histogram;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use timers::Timers;
use tokio::task::{JoinSet, yield_now};
use tokio::time::Instant;

use crate::figure::Measured;
use crate::stage::{Stage, WORKERS, compute, worker_cpu};

/// What keeps the workers of the runtime busy.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Load {
    /// Nothing: the timers alone.
    Quiet,
    /// More tasks than workers, each computing for 50–100 µs between yields, with a timer pending at each yield.
    Arming,
    /// The same without these timers: nothing but the clock tells that time passes.
    Computing,
    /// The same as `Arming`, and half of the sleeps are long ones.
    Mixed,
}

/// How late tasks wake that sleep again and again: the median, and this quantile or the workers' CPU for each time.
pub(crate) fn lateness<T: Timers>(load: Load, sleepers: u64, quantile: Option<f64>) -> Measured {
    const BURNERS: u64 = 8;
    let stage = Stage::new::<T>(WORKERS);
    let stop = Arc::new(AtomicBool::new(false));
    if load != Load::Quiet {
        for seed in 0..BURNERS {
            let burning = burn::<T>(seed, load != Load::Computing, Arc::clone(&stop));
            stage.runtime.spawn(burning);
        }
    }
    let rounds = if load == Load::Quiet { 200 } else { 150 };
    let before = worker_cpu();
    let all = stage.run(async move {
        let tasks = (0..sleepers).map(|seed| sleep_often::<T>(seed, load, rounds));
        tasks.collect::<JoinSet<_>>().join_all().await
    });
    let mut late = Histogram::new(3).expect("a histogram");
    for one in all {
        late.add(one).expect("equal histograms");
    }
    let each = (worker_cpu() - before) / late.len() as f64;
    stop.store(true, Ordering::Relaxed);
    let at = |quantile| late.value_at_quantile(quantile) as f64;
    let values = [at(0.5), quantile.map_or(each, at)];
    Measured::fired(values, late.len())
}

/// Computes for 50–100 µs at a time. Where it `arms`, it then yields under a timeout, as a request would.
async fn burn<T: Timers>(seed: u64, arms: bool, stop: Arc<AtomicBool>) {
    let mut rng = SmallRng::seed_from_u64(seed);
    while !stop.load(Ordering::Relaxed) {
        compute(Duration::from_micros(rng.random_range(50..100)));
        if arms {
            let answer = T::timeout(Duration::from_secs(30), yield_now()).await;
            assert!(answer.is_ok(), "{} was early", T::NAME);
        } else {
            yield_now().await;
        }
    }
}

/// Sleeps `rounds` times for 1–20 ms, or longer where the load is mixed, and records how late it woke.
async fn sleep_often<T: Timers>(seed: u64, load: Load, rounds: usize) -> Histogram<u64> {
    let mut rng = SmallRng::seed_from_u64(seed);
    let mut late = Histogram::new(3).expect("a histogram");
    let long = load == Load::Mixed && seed % 2 == 1;
    let (between, rounds) = if long {
        (20_000..300_000, rounds / 15)
    } else {
        (1_000..20_000, rounds)
    };
    for _ in 0..rounds {
        let at = Instant::now() + Duration::from_micros(rng.random_range(between.clone()));
        T::sleep_until(at).await;
        let now = Instant::now();
        assert!(now >= at, "{} woke a sleeper {:?} early", T::NAME, at - now);
        late.record((now - at).as_nanos() as u64)
            .expect("a lateness");
    }
    late
}
