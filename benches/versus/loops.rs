//! Measures loops of tasks that do nothing except wait for very short timers.
//!
//! With Tokio's timers such a loop iterates at most once per millisecond. With a finer driver it iterates more often and uses
//! more CPU, and a runtime full of such tasks never parks and polls I/O late.

use std::ops::Range;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use common::process::cpu_of_threads;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use timers::Timers;
use timers::expiry::Count;
use tokio::sync::oneshot;

use crate::benchmark::{Measured, Unit, Value};
use crate::stage::Stage;

const WINDOW: Duration = Duration::from_millis(500);

/// Measures iterations of all loops per second, and CPU time per second, on two workers and on a current-thread runtime, with
/// one loop and with a thousand. Each loop sleeps for a number of nanoseconds from the range, or resets a sleep to the
/// current instant if the range is empty.
pub(crate) fn loops<T: Timers>(nanos: Range<u64>) -> Measured {
    let mut values = Vec::new();
    for (workers, place) in [(2, "workers"), (0, "current-thread")] {
        for tasks in [1, 1000] {
            let stage = Stage::bare::<T>(workers);
            let count = Arc::new(Count::default());
            for seed in 0..tasks {
                let (nanos, count) = (nanos.clone(), Arc::clone(&count));
                stage.runtime.spawn(iterate::<T>(seed, nanos, count));
            }
            let [iterations, cpu] = watch(stage, count);
            let what = format!("{tasks} × {place}: iterations");
            values.push(Value::new(what, iterations, Unit::Count));
            values.push(Value::nanos(format!("{tasks} × {place}: CPU"), cpu));
        }
    }
    Measured::cancelled(values, 0)
}

/// Returns the count per second and the CPU time per second.
fn watch(stage: Stage, count: Arc<Count>) -> [f64; 2] {
    let (end, ended) = oneshot::channel::<()>();
    let watcher = thread::spawn(move || {
        thread::sleep(WINDOW / 5);
        let look = || {
            let cpu = cpu_of_threads(None).expect("Linux's schedstat");
            (Instant::now(), count.get(), cpu)
        };
        let then = look();
        thread::sleep(WINDOW);
        // On a busy machine a window may pass without any iteration.
        count.wait_for(then.1 + 1);
        let now = look();
        drop(end);
        let seconds = (now.0 - then.0).as_secs_f64();
        let cpu = now.2.saturating_sub(then.2).as_nanos() as f64;
        [(now.1 - then.1) as f64 / seconds, cpu / seconds]
    });
    // Drives a runtime that has no workers.
    let _ = stage.run(ended);
    watcher.join().expect("no panic")
}

/// One loop. It ends with its runtime.
async fn iterate<T: Timers>(seed: u64, nanos: Range<u64>, count: Arc<Count>) {
    let mut random = SmallRng::seed_from_u64(seed);
    let mut sleep = Box::pin(T::sleep(Duration::ZERO));
    loop {
        if nanos.is_empty() {
            T::reset(sleep.as_mut(), tokio::time::Instant::now());
            sleep.as_mut().await;
        } else {
            T::sleep(Duration::from_nanos(random.random_range(nanos.clone()))).await;
        }
        count.add();
    }
}
