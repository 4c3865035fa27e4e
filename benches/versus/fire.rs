//! Measures the CPU time of a million timers that fire.

use std::sync::Arc;
use std::time::Duration;

use rand::Rng;
use timers::Timers;
use timers::expiry::{Count, Volley};
use tokio::time::Instant;

use crate::benchmark::{Measured, Value};
use crate::stage::{Stage, WORKERS, cpu_while, seeded, spawn_many};

const MILLION: usize = 1_000_000;
/// The timers are due within this time.
const SPREAD: Duration = Duration::from_secs(1);

/// Measures the CPU time to fire a million timers over a second, with wakers that count.
pub(crate) fn fire_counting<T: Timers>() -> Measured {
    let stage = Stage::new::<T>(WORKERS);
    let volley = Volley::<T>::arm(stage.runtime.handle(), MILLION, SPREAD);
    let cpu = cpu_while(volley.due, || volley.wait());
    let each = Value::nanos("CPU per timer", cpu / MILLION as f64);
    Measured::fired([each], volley.wakes())
}

/// Measures the CPU time to wake a million sleeping tasks over a second.
pub(crate) fn fire_tasks<T: Timers>() -> Measured {
    let stage = Stage::new::<T>(WORKERS);
    let start = Instant::now() + Duration::from_secs(4);
    let [begun, awake] = [(); 2].map(|()| Arc::new(Count::default()));
    let (counts, mut rng) = ([&begun, &awake].map(Arc::clone), seeded());
    stage.run(spawn_many(MILLION, move || {
        let at = start + rng.random_range(Duration::ZERO..SPREAD);
        sleep_until::<T>(at, counts.clone())
    }));
    begun.wait_for(MILLION);
    assert!(Instant::now() < start, "the tasks took too long to start");
    let cpu = cpu_while(start, || awake.wait_for(MILLION));
    let each = Value::nanos("CPU per timer", cpu / MILLION as f64);
    Measured::fired([each], awake.get() as u64)
}

async fn sleep_until<T: Timers>(at: Instant, [begun, awake]: [Arc<Count>; 2]) {
    begun.add();
    T::sleep_until(at).await;
    awake.add();
}
