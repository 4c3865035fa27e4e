//! Timers that are armed and soon cancelled, as the timeouts of a service are.

use std::future::{Future, ready};
use std::hint::black_box;
use std::pin::pin;
use std::sync::Barrier;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use timers::arm;

use crate::figure::{Did, Measured, Scale};
use crate::peer::Peer;
use crate::race::Workload;
use crate::stage::{Delays, Stage, each};

/// Arm and cancel, each worker on its own; `others` stay pending all the while.
#[derive(Clone, Copy)]
pub(crate) struct RegisterCancel {
    pub(crate) workers: usize,
    pub(crate) others: usize,
}

impl RegisterCancel {
    /// Nanoseconds per timer of each worker.
    fn cost<P: Peer>(self, count: usize, others: usize) -> f64 {
        let stage = Stage::new::<P>(self.workers);
        let crowd = stage.crowd::<P>(others);
        let costs = stage
            .on_each_worker::<P, _>(move |cx, barrier| register_cancel::<P>(cx, barrier, count));
        drop(crowd);
        costs.into_iter().fold(0.0, f64::max)
    }

    /// Of each worker.
    fn count(scale: Scale) -> usize {
        scale.of(400_000)
    }
}

impl Workload for RegisterCancel {
    fn run<P: Peer>(&self, scale: Scale) -> Measured {
        let count = Self::count(scale);
        let cost = self.cost::<P>(count, scale.of(self.others));
        Measured::new([cost], Did::cancelled((count * self.workers) as u64))
    }
}

pub(crate) fn register_cancel<P: Peer>(
    cx: &mut Context<'_>,
    barrier: &Barrier,
    count: usize,
) -> f64 {
    let delays = Delays::new();
    cancel_loop::<P>(cx, &delays, count / 10);
    barrier.wait();
    let begin = Instant::now();
    cancel_loop::<P>(cx, &delays, count);
    begin.elapsed().as_nanos() as f64 / count as f64
}

fn cancel_loop<P: Peer>(cx: &mut Context<'_>, delays: &Delays, count: usize) {
    for index in 0..count {
        let sleep = pin!(P::sleep(delays.get(index)));
        arm(black_box(sleep), cx);
    }
}

/// The throughput of two workers over that of one.
#[derive(Clone, Copy)]
pub(crate) struct Scaling;

impl Workload for Scaling {
    fn run<P: Peer>(&self, scale: Scale) -> Measured {
        let count = RegisterCancel::count(scale);
        let cost = |workers| RegisterCancel { workers, others: 0 }.cost::<P>(count, 0);
        let (one, two) = (cost(1), cost(2));
        Measured::new([2.0 * one / two], Did::cancelled(3 * count as u64))
    }
}

/// Every timer is due before all that were armed before it, so the alarm has to move each time.
#[derive(Clone, Copy)]
pub(crate) struct Earliest;

impl Workload for Earliest {
    fn run<P: Peer>(&self, scale: Scale) -> Measured {
        let count = scale.of(100_000);
        let stage = Stage::bare::<P>(1);
        let far = stage.crowd::<P>(1);
        let cost = stage.on_worker(move |cx| {
            let mut at = tokio::time::Instant::now() + Duration::from_secs(1700);
            each(count, |some| {
                for _ in 0..some {
                    at -= Duration::from_millis(1);
                    arm(black_box(pin!(P::sleep_until(at))), cx);
                }
            })
        });
        drop(far);
        Measured::new([cost], Did::cancelled(count as u64))
    }
}

/// `timeout` around a future that is ready: the timer is never needed.
#[derive(Clone, Copy)]
pub(crate) struct ReadyTimeout;

impl Workload for ReadyTimeout {
    fn run<P: Peer>(&self, scale: Scale) -> Measured {
        let count = scale.of(2_000_000);
        let stage = Stage::new::<P>(1);
        let (cost, passed) = stage.on_worker(move |cx| {
            let mut passed = 0;
            let cost = each(count, |some| passed += ready_timeouts::<P>(cx, some));
            (cost, passed)
        });
        Measured::new([cost], Did::cancelled(passed))
    }
}

fn ready_timeouts<P: Peer>(cx: &mut Context<'_>, count: usize) -> u64 {
    let mut passed = 0;
    for _ in 0..count {
        let timeout = pin!(P::timeout(Duration::from_secs(5), ready(black_box(1))));
        if let Poll::Ready(Ok(one)) = timeout.poll(cx) {
            passed += one;
        }
    }
    passed
}
