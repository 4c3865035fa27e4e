//! A million timers that fire: what it costs, and how long it keeps others waiting.

use std::future::{Future, poll_fn};
use std::hint::black_box;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hdrhistogram::Histogram;
use rand::Rng;
use tokio::task::{coop::unconstrained, yield_now};
use tokio::time::Instant;

use crate::figure::{Did, Measured, Scale};
use crate::peer::Peer;
use crate::race::Workload;
use crate::stage::{Count, Delays, Stage, arm, cpu_while, seeded, wait_until_just_before};

pub(crate) const WORKERS: usize = 2;
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
        let stage = Stage::new::<P>(WORKERS);
        fire_tasks(&stage, scale, P::sleep_until, || ())
    }
}

/// Each task waits for what `sleep` makes of its deadline; `asleep` is called when all do.
pub(crate) fn fire_tasks<S: Future<Output: Send> + Send + 'static>(
    stage: &Stage,
    scale: Scale,
    sleep: impl FnOnce(Instant) -> S + Clone + Send + 'static,
    asleep: impl FnOnce(),
) -> Measured {
    let count = million(scale);
    let start = Instant::now() + scale.time(Duration::from_secs(4));
    let spread = scale.time(Duration::from_secs(1));
    let (begun, awake) = (Arc::new(Count::default()), Arc::new(Count::default()));
    let spawn = spawn_sleepers(
        deadlines(count, start, spread),
        sleep,
        Arc::clone(&begun),
        Arc::clone(&awake),
    );
    stage.run(spawn);
    begun.wait_for(count);
    asleep();
    assert!(
        Instant::now() < start,
        "{count} tasks took too long to start"
    );
    let cpu = cpu_while(start, || awake.wait_for(count));
    Measured::new(
        [cpu.as_nanos() as f64 / count as f64],
        Did::fired(awake.get() as u64),
    )
}

/// At random within `spread` from `start`.
fn deadlines(count: usize, start: Instant, spread: Duration) -> impl Iterator<Item = Instant> {
    let mut rng = seeded();
    (0..count).map(move |_| start + rng.random_range(Duration::ZERO..spread))
}

async fn spawn_sleepers<S: Future<Output: Send> + Send + 'static>(
    deadlines: impl Iterator<Item = Instant>,
    sleep: impl FnOnce(Instant) -> S + Clone + Send + 'static,
    begun: Arc<Count>,
    awake: Arc<Count>,
) {
    for (index, at) in deadlines.enumerate() {
        let (begun, awake) = (Arc::clone(&begun), Arc::clone(&awake));
        let sleep = sleep.clone();
        tokio::spawn(async move {
            begun.add();
            sleep(at).await;
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
        insert_wait::<P>(scale, |cx, after| {
            arm(cx, black_box(pin!(P::sleep(after))));
        })
    }
}

/// Timers of `P` fire; what waits is `insert`.
pub(crate) fn insert_wait<P: Peer>(
    scale: Scale,
    insert: impl Fn(&mut Context<'_>, Duration) + Copy + Send + 'static,
) -> Measured {
    let count = million(scale);
    let stage = Stage::new::<P>(WORKERS);
    let volley = stage.volley::<P>(
        count,
        scale.time(Duration::from_millis(1600)),
        Duration::from_millis(1),
    );
    wait_until_just_before(volley.start);
    let inserters: Vec<_> = (0..WORKERS)
        .map(|_| insert_until(volley.fired(), count, volley.start, insert))
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

/// Inserts until `count` timers have fired; now and then it lets its worker fire its own.
async fn insert_until(
    fired: Arc<Count>,
    count: usize,
    start: Instant,
    insert: impl Fn(&mut Context<'_>, Duration) + Copy,
) -> Histogram<u64> {
    let mut waits = Histogram::new(3).expect("a histogram");
    let delays = Delays::new();
    while fired.get() < count {
        let under_way = Instant::now() >= start;
        for wait in insert_some(&delays, insert).await {
            if under_way {
                waits.record_correct(wait, INTERVAL).expect("a wait");
            }
        }
        yield_now().await;
    }
    waits
}

async fn insert_some(
    delays: &Delays,
    insert: impl Fn(&mut Context<'_>, Duration) + Copy,
) -> [u64; 1000] {
    unconstrained(poll_fn(move |cx| {
        Poll::Ready(std::array::from_fn(|index| {
            let begin = Instant::now();
            insert(cx, delays.get(index));
            begin.elapsed().as_nanos() as u64
        }))
    }))
    .await
}
