//! How late a sleeping task runs, in a quiet runtime and in a busy one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hdrhistogram::Histogram;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use tokio::task::yield_now;
use tokio::time::Instant;

use crate::figure::{Did, Measured, Scale};
use crate::peer::Peer;
#[cfg(feature = "high-resolution")]
use crate::process::worker_cpu;
use crate::race::Workload;
use crate::stage::Stage;

const WORKERS: usize = 2;

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

#[derive(Clone, Copy)]
pub(crate) struct Lateness {
    pub(crate) load: Load,
    /// The quantile reported beside the median.
    pub(crate) quantile: f64,
}

impl Lateness {
    const BURNERS: u64 = 8;

    /// How many there are, and how often each sleeps. Quiet: 20,000 deadlines, 10,000 a second.
    fn sleepers(&self) -> (u64, usize) {
        if self.load == Load::Quiet {
            (100, 200)
        } else {
            (40, 150)
        }
    }
}

impl Workload for Lateness {
    fn run<P: Peer>(&self, scale: Scale) -> Measured {
        let stage = Stage::new::<P>(WORKERS);
        let stop = Arc::new(AtomicBool::new(false));
        if self.load != Load::Quiet {
            let arms = self.load != Load::Computing;
            for seed in 0..Self::BURNERS {
                let burning = burn::<P>(seed, arms, Arc::clone(&stop));
                stage.handle().spawn(burning);
            }
        }
        let (load, (sleepers, rounds)) = (self.load, self.sleepers());
        let rounds = scale.of(rounds);
        let late = stage.run(sleepers_late::<P>(sleepers, load, rounds));
        stop.store(true, Ordering::Relaxed);
        let values = [0.5, self.quantile].map(|at| late.value_at_quantile(at) as f64);
        Measured::new(values, Did::fired(late.len()))
    }
}

/// Computes for 50–100 µs at a time. Where it `arms`, it then yields under a timeout, as a request would.
async fn burn<P: Peer>(seed: u64, arms: bool, stop: Arc<AtomicBool>) {
    let mut rng = SmallRng::seed_from_u64(seed);
    while !stop.load(Ordering::Relaxed) {
        let until = Instant::now() + Duration::from_micros(rng.random_range(50..100));
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        if arms {
            let answer = P::timeout(Duration::from_secs(30), yield_now()).await;
            assert!(answer.is_ok(), "{} was early", P::NAME);
        } else {
            yield_now().await;
        }
    }
}

/// Sleeps `rounds` times for 1–20 ms, or longer where the load is mixed, and records how late it woke.
async fn sleep_often<P: Peer>(seed: u64, load: Load, rounds: usize) -> Histogram<u64> {
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
        P::sleep_until(at).await;
        let now = Instant::now();
        assert!(now >= at, "{} woke a sleeper {:?} early", P::NAME, at - now);
        late.record((now - at).as_nanos() as u64)
            .expect("a lateness");
    }
    late
}

/// What as many sleepers record.
async fn sleepers_late<P: Peer>(sleepers: u64, load: Load, rounds: usize) -> Histogram<u64> {
    let tasks = (0..sleepers).map(|seed| tokio::spawn(sleep_often::<P>(seed, load, rounds)));
    let tasks: Vec<_> = tasks.collect();
    let mut all = Histogram::new(3).expect("a histogram");
    for task in tasks {
        let late = task.await.expect("a sleeper panicked");
        all.add(late).expect("equal histograms");
    }
    all
}

/// How late tasks wake that sleep for 1 to 20 ms again and again, and the workers' CPU for each time.
#[cfg(feature = "high-resolution")]
#[derive(Clone, Copy)]
pub(crate) struct Firing {
    pub(crate) sleepers: u64,
}

#[cfg(feature = "high-resolution")]
impl Workload for Firing {
    fn run<P: Peer>(&self, scale: Scale) -> Measured {
        let stage = Stage::new::<P>(WORKERS);
        let before = worker_cpu();
        let sleeping = sleepers_late::<P>(self.sleepers, Load::Quiet, scale.of(200));
        let late = stage.run(sleeping);
        let each = (worker_cpu() - before).as_nanos() as f64 / late.len() as f64;
        let p50 = late.value_at_quantile(0.5) as f64;
        Measured::new([p50, each], Did::fired(late.len()))
    }
}
