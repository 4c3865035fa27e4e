//! What a runtime with little to do pays for its timeouts.

use std::thread;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::figure::{Did, Measured, Scale};
use crate::peer::Peer;
use crate::process::worker_cpu;
use crate::race::Workload;
use crate::stage::Stage;

/// One wait after the other, each under a timeout that is cancelled long before it is due.
#[derive(Clone, Copy)]
pub(crate) struct Quiet {
    pub(crate) workers: usize,
}

impl Workload for Quiet {
    fn run<P: Peer>(&self, scale: Scale) -> Measured {
        // For each timeout, and for how often it is cancelled.
        let time = scale.time(Duration::from_millis(400));
        let stage = Stage::new::<P>(self.workers);
        let (mut costs, mut waits) = (Vec::new(), 0);
        for limit in [5, 50].map(Duration::from_millis) {
            for every in [100, 2_000].map(Duration::from_micros) {
                let count = (time.as_nanos() / every.as_nanos()) as u64;
                cost::<P>(&stage, limit, every, 5);
                costs.push(cost::<P>(&stage, limit, every, count));
                waits += count;
            }
        }
        Measured::new(costs, Did::cancelled(waits))
    }
}

/// The workers' CPU time for each of `count` waits. This thread ends them, and its own time is not counted.
fn cost<P: Peer>(stage: &Stage, limit: Duration, every: Duration, count: u64) -> f64 {
    let (sender, receiver) = unbounded_channel();
    let before = worker_cpu();
    let task = stage.handle().spawn(receive::<P>(receiver, limit));
    for _ in 0..count {
        thread::sleep(every);
        sender.send(()).expect("a receiver");
    }
    drop(sender);
    let received = stage.handle().block_on(task);
    assert_eq!(received.expect("the receiver panicked"), count);
    (worker_cpu() - before).as_nanos() as f64 / count as f64
}

async fn receive<P: Peer>(mut receiver: UnboundedReceiver<()>, limit: Duration) -> u64 {
    let mut received = 0;
    loop {
        match P::timeout(limit, receiver.recv()).await {
            Ok(Some(())) => received += 1,
            Ok(None) => return received,
            // The machine stood still for so long.
            Err(_) => {}
        }
    }
}
