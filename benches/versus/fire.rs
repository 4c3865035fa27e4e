//! A million timers that fire: what it costs, and how long it keeps others waiting.

use std::future::poll_fn;
use std::hint::black_box;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use rand::Rng;
use tokio::task::{coop::unconstrained, yield_now};

use crate::figure::{Did, Measured, Scale, Workload};
use crate::peer::Peer;
use crate::stage::{Count, Delays, Stage, arm, cpu_while, seeded, wait_until_just_before};

const WORKERS: usize = 2;
/// A worker that waits keeps waiting all who would have come meanwhile: one in as many nanoseconds.
const INTERVAL: u64 = 10_000;

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
        let volley = stage.volley::<P>(count, scale.time(Duration::from_millis(2000)), spread);
        let cpu = volley.cpu();
        let ready = volley.ready(&stage);
        Measured::new([cpu.as_nanos() as f64 / count as f64], Did::fired(ready))
    }
}

/// CPU time to wake a million sleeping tasks over a second.
#[derive(Clone, Copy)]
pub(crate) struct FireTasks;

impl Workload for FireTasks {
    fn run<P: Peer>(&self, scale: Scale) -> Measured {
        let count = million(scale);
        let stage = Stage::new::<P>(WORKERS);
        let start = tokio::time::Instant::now() + scale.time(Duration::from_secs(4));
        let (asleep, awake) = (Arc::new(Count::default()), Arc::new(Count::default()));
        let spread = scale.time(Duration::from_secs(1));
        stage.run(spawn_sleepers::<P>(
            count,
            start,
            spread,
            Arc::clone(&asleep),
            Arc::clone(&awake),
        ));
        asleep.wait_for(count);
        assert!(
            tokio::time::Instant::now() < start,
            "{count} tasks of {} took too long to start",
            P::NAME
        );
        let cpu = cpu_while(start, || awake.wait_for(count));
        Measured::new(
            [cpu.as_nanos() as f64 / count as f64],
            Did::fired(awake.get() as u64),
        )
    }
}

async fn spawn_sleepers<P: Peer>(
    count: usize,
    start: tokio::time::Instant,
    spread: Duration,
    asleep: Arc<Count>,
    awake: Arc<Count>,
) {
    let mut rng = seeded();
    for index in 0..count {
        let (asleep, awake) = (Arc::clone(&asleep), Arc::clone(&awake));
        let at = start + rng.random_range(Duration::ZERO..spread);
        tokio::spawn(async move {
            asleep.add();
            P::sleep_until(at).await;
            awake.add();
        });
        if index % 100 == 99 {
            yield_now().await;
        }
    }
}

/// The longest wait of workers that arm and cancel while a million timers, due in one millisecond, fire.
///
/// Every worker does, so that one is at it whichever fires.
#[derive(Clone, Copy)]
pub(crate) struct InsertWait;

impl Workload for InsertWait {
    fn run<P: Peer>(&self, scale: Scale) -> Measured {
        let count = million(scale);
        let stage = Stage::new::<P>(WORKERS);
        let volley = stage.volley::<P>(
            count,
            scale.time(Duration::from_millis(1600)),
            Duration::from_millis(1),
        );
        wait_until_just_before(volley.start);
        let inserters: Vec<_> = (0..WORKERS)
            .map(|_| insert_until::<P>(volley.fired(), count, volley.start))
            .map(|inserter| stage.handle().spawn(inserter))
            .collect();
        let mut waits = Histogram::<u64>::new(3).expect("a histogram");
        for inserter in inserters {
            let some = stage.run(inserter).expect("an inserter panicked");
            waits.add(some).expect("equal histograms");
        }
        let ready = volley.ready(&stage);
        let values = [waits.value_at_quantile(0.9999) as f64, waits.max() as f64];
        Measured::new(values, Did::fired(ready))
    }
}

/// Arms and cancels until `count` timers have fired; now and then it lets its worker fire its own.
async fn insert_until<P: Peer>(
    fired: Arc<Count>,
    count: usize,
    start: tokio::time::Instant,
) -> Histogram<u64> {
    let mut waits = Histogram::new(3).expect("a histogram");
    let delays = Delays::new();
    while fired.get() < count {
        let under_way = tokio::time::Instant::now() >= start;
        for wait in insert_some::<P>(&delays).await {
            if under_way {
                waits.record_correct(wait, INTERVAL).expect("a wait");
            }
        }
        yield_now().await;
    }
    waits
}

async fn insert_some<P: Peer>(delays: &Delays) -> [u64; 1000] {
    unconstrained(poll_fn(|cx| {
        Poll::Ready(std::array::from_fn(|index| {
            let begin = Instant::now();
            {
                let sleep = pin!(P::sleep(delays.get(index)));
                arm(cx, black_box(sleep));
            }
            begin.elapsed().as_nanos() as u64
        }))
    }))
    .await
}
