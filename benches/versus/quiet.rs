//! Measures what an idle runtime pays for its timeouts.

use std::thread;
use std::time::Duration;

use timers::Timers;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::benchmark::{Measured, Value};
use crate::stage::{Stage, worker_cpu};

/// Measures waits that follow one another, each under a timeout that is cancelled before it is due.
pub(crate) fn quiet<T: Timers>() -> Measured {
    /// For each (timeout, pause) pair.
    const TIME: Duration = Duration::from_millis(400);
    let stage = Stage::new::<T>(1);
    let (mut costs, mut waits) = (Vec::new(), 0);
    for limit in [5, 50].map(Duration::from_millis) {
        for every in [100, 2_000].map(Duration::from_micros) {
            let count = (TIME.as_nanos() / every.as_nanos()) as usize;
            cost::<T>(&stage, limit, every, 5);
            let what = format!("{limit:?} / {every:?}");
            costs.push(Value::nanos(what, cost::<T>(&stage, limit, every, count)));
            waits += count;
        }
    }
    Measured::cancelled(costs, waits)
}

/// Returns the worker's CPU time for each of `count` waits. This thread ends the waits, and its own time does not count.
fn cost<T: Timers>(stage: &Stage, limit: Duration, every: Duration, count: usize) -> f64 {
    let (sender, receiver) = unbounded_channel();
    let before = worker_cpu();
    let task = stage.runtime.spawn(receive::<T>(receiver, limit));
    for _ in 0..count {
        thread::sleep(every);
        sender.send(()).expect("a receiver");
    }
    drop(sender);
    let received = stage.runtime.block_on(task);
    assert_eq!(received.expect("the receiver panicked"), count);
    (worker_cpu() - before) / count as f64
}

async fn receive<T: Timers>(mut receiver: UnboundedReceiver<()>, limit: Duration) -> usize {
    let mut received = 0;
    loop {
        match T::timeout(limit, receiver.recv()).await {
            Ok(Some(())) => received += 1,
            Ok(None) => return received,
            // The whole machine stopped for that long.
            Err(_) => {}
        }
    }
}
