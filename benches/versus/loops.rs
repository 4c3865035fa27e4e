//! Measures loops of tasks that do nothing except `sleep(Duration::ZERO)`.
//!
//! With Tokio's timers such a loop iterates at most once per millisecond. With a finer driver it iterates more often
//! and uses more CPU; a runtime full of such tasks polls I/O late, as it never parks.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use common::process::cpu_of_threads;
use timers::Timers;
use timers::expiry::Count;
use tokio::sync::oneshot;

use crate::benchmark::{Measured, Unit, Value};
use crate::stage::Stage;

const WINDOW: Duration = Duration::from_millis(500);

/// Measures iterations of all loops per second, and CPU time per second, on two workers and on a current-thread runtime, with
/// one loop and with a thousand.
pub(crate) fn loops<T: Timers>() -> Measured {
    let mut values = Vec::new();
    for (workers, place) in [(2, "workers"), (0, "current-thread")] {
        for tasks in [1, 1000] {
            let stage = Stage::bare::<T>(workers);
            let count = Arc::new(Count::default());
            for _ in 0..tasks {
                stage.runtime.spawn(iterate::<T>(Arc::clone(&count)));
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
async fn iterate<T: Timers>(count: Arc<Count>) {
    loop {
        T::sleep(Duration::ZERO).await;
        count.add();
    }
}
