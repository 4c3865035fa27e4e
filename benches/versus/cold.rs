//! Arming and cancelling where the caches hold something else, as they do between two timers of a service.

use std::pin::pin;
use std::task::Context;
use std::time::{Duration, Instant};

use common::median;
use timers::{arm, on_task};
use tokio::task::coop::unconstrained;
use tokio::task::yield_now;

use crate::evict::Caches;
use crate::figure::{Did, Measured, Scale};
use crate::peer::Peer;
use crate::race::Workload;
use crate::stage::{Delays, Stage};

/// The median of single operations, each timed alone: what interrupts one of them does not count.
#[derive(Clone, Copy)]
pub(crate) struct Cold;

impl Cold {
    const SECOND_LEVEL: usize = 1000;
    const ALL_LEVELS: usize = 100;
}

impl Workload for Cold {
    fn run<P: Peer>(&self, scale: Scale) -> Measured {
        let (some, few) = (scale.of(Self::SECOND_LEVEL), scale.of(Self::ALL_LEVELS));
        let stage = Stage::new::<P>(1);
        let costs = stage.run(unconstrained(async move {
            let second_level = operations::<P>(Caches::second_level(), some).await;
            [second_level, operations::<P>(Caches::all(), few).await]
        }));
        Measured::new(costs, Did::cancelled((some + few) as u64))
    }
}

/// Nanoseconds. The task yields in between, so that the runtime never has to catch up within an operation.
async fn operations<P: Peer>(mut caches: Caches, count: usize) -> f64 {
    let delays = Delays::new();
    let mut times = Vec::with_capacity(count);
    for index in 0..count {
        yield_now().await;
        let after = delays.get(index);
        caches.evict();
        let time = on_task(|cx| arm_and_cancel::<P>(cx, after)).await;
        times.push(time.as_nanos() as f64);
    }
    median(&times)
}

/// The first reading of the clock fetches the clock's own code and data.
fn arm_and_cancel<P: Peer>(cx: &mut Context<'_>, after: Duration) -> Duration {
    let begin = Instant::now();
    arm(pin!(P::sleep(after)), cx);
    begin.elapsed()
}
