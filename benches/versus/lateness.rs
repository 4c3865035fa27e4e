//! How late a sleeping task runs, in a quiet runtime and in a busy one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hdrhistogram::Histogram;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use tokio::task::{JoinHandle, yield_now};
use tokio::time::Instant;

use crate::figure::{Did, Figure, Measured, Scale, nanos};
use crate::peer::Peer;
use crate::race::{Workload, race};
use crate::stage::Stage;

pub(crate) fn figures() -> Vec<Figure> {
    let busy = |name, about, load, p50, p99| {
        race(
            name,
            about,
            Lateness {
                load,
                quantile: 0.99,
            },
        )
        .line(nanos("p50").ratio(p50))
        .line(nanos("p99").ratio(p99))
        .rounds(5)
        .done()
    };
    vec![
        race(
            "lateness-quiet",
            "how late sleepers wake in a quiet runtime",
            Lateness {
                load: Load::Quiet,
                quantile: 0.999,
            },
        )
        .line(nanos("p50").ratio(1.6))
        .line(nanos("p99.9").ratio(1.0))
        .rounds(5)
        .done(),
        busy(
            "lateness-busy",
            "the same with every worker busy, in tasks that arm timers all the time",
            Load::Arming,
            10.0,
            3.0,
        ),
        busy(
            "lateness-busy-mixed",
            "the same with longer sleeps among the short",
            Load::Mixed,
            10.0,
            3.0,
        ),
        busy(
            "lateness-computing",
            "the same with every worker busy, in tasks that only compute and yield",
            Load::Computing,
            1.3,
            1.05,
        ),
    ]
}

pub(crate) const WORKERS: usize = 2;

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
            (0..Self::BURNERS).for_each(|seed| {
                drop(
                    stage
                        .handle()
                        .spawn(burn::<P>(seed, arms, Arc::clone(&stop))),
                );
            });
        }
        let (load, (sleepers, rounds)) = (self.load, self.sleepers());
        let rounds = scale.of(rounds);
        let late = stage.run(async move {
            let tasks = (0..sleepers)
                .map(|seed| tokio::spawn(sleep_often::<P>(seed, load, rounds)))
                .collect();
            merge(tasks).await
        });
        stop.store(true, Ordering::Relaxed);
        let values = [
            late.value_at_quantile(0.5) as f64,
            late.value_at_quantile(self.quantile) as f64,
        ];
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
pub(crate) async fn sleep_often<P: Peer>(seed: u64, load: Load, rounds: usize) -> Histogram<u64> {
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

pub(crate) async fn merge(tasks: Vec<JoinHandle<Histogram<u64>>>) -> Histogram<u64> {
    let mut all = Histogram::new(3).expect("a histogram");
    for task in tasks {
        all.add(task.await.expect("a sleeper panicked"))
            .expect("equal histograms");
    }
    all
}
