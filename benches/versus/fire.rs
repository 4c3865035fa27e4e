//! A million timers that fire: what it costs, and how long it keeps others waiting.

use std::sync::Arc;
use std::time::Duration;

use rand::Rng;
use timers::expiry::{self, Count, Expiry, Volley};
use tokio::task::yield_now;
use tokio::time::Instant;

use crate::figure::{Did, Measured, Scale};
use crate::peer::Peer;
use crate::race::Workload;
use crate::stage::{Stage, cpu_while, seeded};

const WORKERS: usize = 2;

fn million(scale: Scale) -> usize {
    scale.of(1_000_000)
}

/// CPU time to fire a million timers over a second, each of which counts.
#[derive(Clone, Copy)]
pub(crate) struct FireCounting;

impl Workload for FireCounting {
    fn run<P: Peer>(&self, scale: Scale) -> Measured {
        let count = million(scale);
        let stage = Stage::new::<P>(WORKERS);
        let spread = scale.time(Duration::from_secs(1));
        let volley = Volley::<P>::arm(stage.handle(), count, spread);
        let cpu = cpu_while(volley.due, || volley.wait());
        let each = cpu.as_nanos() as f64 / count as f64;
        Measured::new([each], Did::fired(volley.wakes()))
    }
}

/// CPU time to wake a million sleeping tasks over a second.
#[derive(Clone, Copy)]
pub(crate) struct FireTasks;

impl Workload for FireTasks {
    fn run<P: Peer>(&self, scale: Scale) -> Measured {
        let stage = Stage::new::<P>(WORKERS);
        let count = million(scale);
        let start = Instant::now() + scale.time(Duration::from_secs(4));
        let spread = scale.time(Duration::from_secs(1));
        let (begun, awake) = (Arc::new(Count::default()), Arc::new(Count::default()));
        let counts = (Arc::clone(&begun), Arc::clone(&awake));
        stage.run(spawn_sleepers::<P>(count, start, spread, counts));
        begun.wait_for(count);
        assert!(
            Instant::now() < start,
            "{count} tasks took too long to start"
        );
        let cpu = cpu_while(start, || awake.wait_for(count));
        let each = cpu.as_nanos() as f64 / count as f64;
        Measured::new([each], Did::fired(awake.get() as u64))
    }
}

/// Tasks that sleep until some moment within `spread` from `start`.
async fn spawn_sleepers<P: Peer>(
    count: usize,
    start: Instant,
    spread: Duration,
    (begun, awake): (Arc<Count>, Arc<Count>),
) {
    let mut rng = seeded();
    for index in 0..count {
        let at = start + rng.random_range(Duration::ZERO..spread);
        let (begun, awake) = (Arc::clone(&begun), Arc::clone(&awake));
        tokio::spawn(async move {
            begun.add();
            P::sleep_until(at).await;
            awake.add();
        });
        if index % 100 == 99 {
            yield_now().await;
        }
    }
}

/// The longest wait of workers that arm and cancel while a million timers, due in one millisecond, fire.
#[derive(Clone, Copy)]
pub(crate) struct InsertWait;

impl Workload for InsertWait {
    fn run<P: Peer>(&self, scale: Scale) -> Measured {
        let stage = Stage::new::<P>(WORKERS);
        let Expiry { fired, waits } = expiry::run::<P>(stage.handle(), WORKERS, million(scale));
        let values = [waits.value_at_quantile(0.9999) as f64, waits.max() as f64];
        Measured::new(values, Did::fired(fired))
    }
}
