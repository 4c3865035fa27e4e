//! A million timers that fire: what it costs, and how long it keeps others waiting.

use std::sync::Arc;
use std::time::Duration;

use rand::Rng;
use timers::expiry::{self, Count, Expiry, Volley};
use tokio::task::yield_now;
use tokio::time::Instant;

use crate::figure::Measured;
use crate::peer::Peer;
use crate::stage::{Stage, cpu_while, seeded};

const WORKERS: usize = 2;
const MILLION: usize = 1_000_000;
/// The timers of a million are due within that.
const SPREAD: Duration = Duration::from_secs(1);

/// CPU time to fire a million timers over a second, each of which counts.
pub(crate) fn fire_counting<P: Peer>() -> Measured {
    let stage = Stage::new::<P>(WORKERS);
    let volley = Volley::<P>::arm(stage.handle(), MILLION, SPREAD);
    let cpu = cpu_while(volley.due, || volley.wait());
    Measured::fired([cpu / MILLION as f64], volley.wakes())
}

/// CPU time to wake a million sleeping tasks over a second.
pub(crate) fn fire_tasks<P: Peer>() -> Measured {
    let stage = Stage::new::<P>(WORKERS);
    let start = Instant::now() + Duration::from_secs(4);
    let (begun, awake) = (Arc::new(Count::default()), Arc::new(Count::default()));
    let counts = (Arc::clone(&begun), Arc::clone(&awake));
    stage.run(spawn_sleepers::<P>(start, counts));
    begun.wait_for(MILLION);
    assert!(Instant::now() < start, "the tasks took too long to start");
    let cpu = cpu_while(start, || awake.wait_for(MILLION));
    Measured::fired([cpu / MILLION as f64], awake.get() as u64)
}

/// Tasks that sleep until some moment after `start`.
async fn spawn_sleepers<P: Peer>(start: Instant, (begun, awake): (Arc<Count>, Arc<Count>)) {
    let mut rng = seeded();
    for index in 0..MILLION {
        let at = start + rng.random_range(Duration::ZERO..SPREAD);
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
pub(crate) fn insert_wait<P: Peer>() -> Measured {
    let stage = Stage::new::<P>(WORKERS);
    let Expiry { fired, waits } = expiry::run::<P>(stage.handle(), WORKERS, MILLION);
    let values = [waits.value_at_quantile(0.9999), waits.max()];
    Measured::fired(values.map(|wait| wait as f64), fired)
}
