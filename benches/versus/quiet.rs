//! What a runtime with little to do pays: for its timeouts, and for nothing.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use common::process::{field, threads};
use timers::{Timers, WORKER};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::figure::Measured;
use crate::stage::{Stage, worker_cpu};

/// One wait after the other, each under a timeout that is cancelled long before it is due.
pub(crate) fn quiet<T: Timers>(workers: usize) -> Measured {
    // For each timeout, and for how often it is cancelled.
    const TIME: Duration = Duration::from_millis(400);
    let stage = Stage::new::<T>(workers);
    let (mut costs, mut waits) = (Vec::new(), 0);
    for limit in [5, 50].map(Duration::from_millis) {
        for every in [100, 2_000].map(Duration::from_micros) {
            let count = (TIME.as_nanos() / every.as_nanos()) as usize;
            cost::<T>(&stage, limit, every, 5);
            costs.push(cost::<T>(&stage, limit, every, count));
            waits += count;
        }
    }
    Measured::cancelled(costs, waits)
}

/// The workers' CPU time for each of `count` waits. This thread ends them, and its own time is not counted.
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
            // The machine stood still for so long.
            Err(_) => {}
        }
    }
}

/// Context switches of the workers in a second: without a timer, and with one an hour away.
pub(crate) fn idle<T: Timers>() -> Measured {
    let stage = Stage::bare::<T>(2);
    drop(stage.crowd::<T>(1));
    let without = switches_in_a_second();
    let hour = stage.crowd::<T>(1);
    let with = switches_in_a_second();
    drop(hour);
    Measured::cancelled([without, with], 2)
}

fn switches_in_a_second() -> f64 {
    thread::sleep(Duration::from_millis(100));
    let before = switches();
    thread::sleep(Duration::from_secs(1));
    (switches() - before) as f64
}

/// How often worker threads have gone to sleep so far.
fn switches() -> u64 {
    let of = |thread: PathBuf| {
        let status = fs::read_to_string(thread.join("status")).expect("Linux's /proc");
        let count = field(&status, "voluntary_ctxt_switches");
        let count = count.and_then(|count| count.parse::<u64>().ok());
        count.expect("a count in status")
    };
    threads(Some(WORKER)).into_iter().map(of).sum()
}
