//! Timers that are armed and soon cancelled, as the timeouts of a service are.

use std::future::{Future, ready};
use std::hint::black_box;
use std::pin::pin;
use std::sync::Barrier;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::figure::{Did, Measured, Scale};
use crate::peer::Peer;
use crate::race::Workload;
use crate::stage::{Delays, Stage, arm};

/// Arm and cancel, each worker on its own; `others` stay pending all the while.
#[derive(Clone, Copy)]
pub(crate) struct RegisterCancel {
    pub(crate) workers: usize,
    pub(crate) others: usize,
}

impl RegisterCancel {
    const EACH: usize = 400_000;

    /// Nanoseconds per timer of each worker.
    fn cost<P: Peer>(&self, each: usize, others: usize) -> f64 {
        let stage = Stage::new::<P>(self.workers);
        let crowd = stage.crowd::<P>(others);
        let times = stage
            .on_each_worker::<P, _>(move |cx, barrier| register_cancel::<P>(cx, barrier, each));
        drop(crowd);
        times.iter().map(Duration::as_nanos).max().unwrap_or(0) as f64 / each as f64
    }

    fn each(scale: Scale) -> usize {
        scale.of(Self::EACH)
    }
}

impl Workload for RegisterCancel {
    fn run<P: Peer>(&self, scale: Scale) -> Measured {
        let each = Self::each(scale);
        let cost = self.cost::<P>(each, scale.of(self.others));
        Measured::new([cost], Did::cancelled((each * self.workers) as u64))
    }
}

pub(crate) fn register_cancel<P: Peer>(
    cx: &mut Context<'_>,
    barrier: &Barrier,
    count: usize,
) -> Duration {
    let delays = Delays::new();
    cancel_loop::<P>(cx, &delays, count / 10);
    barrier.wait();
    let begin = Instant::now();
    cancel_loop::<P>(cx, &delays, count);
    begin.elapsed()
}

fn cancel_loop<P: Peer>(cx: &mut Context<'_>, delays: &Delays, count: usize) {
    for index in 0..count {
        let sleep = pin!(P::sleep(delays.get(index)));
        arm(cx, black_box(sleep));
    }
}

/// The throughput of two workers over that of one.
#[derive(Clone, Copy)]
pub(crate) struct Scaling;

impl Workload for Scaling {
    fn run<P: Peer>(&self, scale: Scale) -> Measured {
        let each = RegisterCancel::each(scale);
        let cost = |workers| RegisterCancel { workers, others: 0 }.cost::<P>(each, 0);
        let (one, two) = (cost(1), cost(2));
        Measured::new([2.0 * one / two], Did::cancelled(3 * each as u64))
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
        let time = stage.on_worker(move |cx| {
            descend::<P>(cx, Duration::from_secs(1700), count / 10);
            let begin = Instant::now();
            descend::<P>(cx, Duration::from_secs(1500), count);
            begin.elapsed()
        });
        drop(far);
        Measured::new(
            [time.as_nanos() as f64 / count as f64],
            Did::cancelled(count as u64),
        )
    }
}

fn descend<P: Peer>(cx: &mut Context<'_>, from: Duration, count: usize) {
    let from = tokio::time::Instant::now() + from;
    for index in 0..count {
        let sleep = pin!(P::sleep_until(from - Duration::from_millis(index as u64)));
        arm(cx, black_box(sleep));
    }
}

/// `timeout` around a future that is ready: the timer is never needed.
#[derive(Clone, Copy)]
pub(crate) struct ReadyTimeout;

impl Workload for ReadyTimeout {
    fn run<P: Peer>(&self, scale: Scale) -> Measured {
        let count = scale.of(2_000_000);
        let stage = Stage::new::<P>(1);
        let (time, passed) = stage.on_worker(move |cx| {
            ready_timeouts::<P>(cx, count / 10);
            let begin = Instant::now();
            let passed = ready_timeouts::<P>(cx, count);
            (begin.elapsed(), passed)
        });
        Measured::new(
            [time.as_nanos() as f64 / count as f64],
            Did {
                cancelled: passed,
                ..Did::default()
            },
        )
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
