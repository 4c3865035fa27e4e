//! Timers that stay: polled again, pushed out, replaced among a million, and what the number of them costs.

use std::hint::black_box;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use rand::Rng;
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use tokio::time::Instant;

use crate::figure::{Did, Measured, Scale};
use crate::peer::Peer;
use crate::race::Workload;
use crate::stage::{Count, Crowd, Stage, Volley, arm, armed, seeded, settle_heap};

/// A pending timer polled again and again by the same task.
#[derive(Clone, Copy)]
pub(crate) struct Repoll;

impl Workload for Repoll {
    fn run<P: Peer>(&self, scale: Scale) -> Measured {
        let count = scale.of(3_000_000);
        let stage = Stage::new::<P>(1);
        let time = stage.on_worker(move |cx| {
            let mut sleep = pin!(P::sleep(Duration::from_secs(30)));
            let mut repoll = |count| (0..count).for_each(|_| arm(cx, black_box(sleep.as_mut())));
            repoll(count / 10);
            let begin = Instant::now();
            repoll(count);
            begin.elapsed()
        });
        Measured::new([per(time, count)], Did::cancelled(1))
    }
}

/// Idle timeouts of 256 connections, each pushed out by every packet: `reset` to later, then a poll.
#[derive(Clone, Copy)]
pub(crate) struct ResetLater;

impl Workload for ResetLater {
    fn run<P: Peer>(&self, scale: Scale) -> Measured {
        let count = scale.of(1_000_000);
        let stage = Stage::new::<P>(1);
        let time = stage.on_worker(move |cx| {
            let start = Instant::now() + Duration::from_secs(30);
            let mut idle: Crowd<P> = (0..256).map(|_| armed::<P>(cx, start)).collect();
            push_out::<P>(cx, &mut idle, 0..count / 10, start);
            let begin = Instant::now();
            push_out::<P>(cx, &mut idle, count / 10..count + count / 10, start);
            begin.elapsed()
        });
        Measured::new(
            [per(time, count)],
            Did {
                armed: 256,
                moved: count as u64,
                fired: 0,
                cancelled: 256,
            },
        )
    }
}

/// A packet every five microseconds, the connections in turn.
fn push_out<P: Peer>(
    cx: &mut Context<'_>,
    idle: &mut Crowd<P>,
    packets: std::ops::Range<usize>,
    start: Instant,
) {
    for packet in packets {
        let connection = packet % idle.len();
        let sleep = &mut idle[connection];
        P::reset(
            sleep.as_mut(),
            start + Duration::from_micros(5 * packet as u64),
        );
        arm(cx, sleep.as_mut());
    }
}

/// One of a million pending timers, taken at random, is cancelled and replaced.
#[derive(Clone, Copy)]
pub(crate) struct RandomReplace;

impl Workload for RandomReplace {
    fn run<P: Peer>(&self, scale: Scale) -> Measured {
        let (others, count) = (scale.of(1_000_000), scale.of(400_000));
        let stage = Stage::new::<P>(1);
        let mut crowd = stage.crowd::<P>(others);
        let (time, crowd) = stage.on_worker(move |cx| {
            let mut rng = seeded();
            replace::<P>(cx, &mut crowd, &mut rng, count / 10);
            let begin = Instant::now();
            replace::<P>(cx, &mut crowd, &mut rng, count);
            (begin.elapsed(), crowd)
        });
        drop(crowd);
        Measured::new([per(time, count)], Did::cancelled((others + count) as u64))
    }
}

fn replace<P: Peer>(cx: &mut Context<'_>, crowd: &mut Crowd<P>, rng: &mut SmallRng, count: usize) {
    let start = Instant::now();
    for _ in 0..count {
        let index = rng.random_range(0..crowd.len());
        let after = Duration::from_millis(rng.random_range(1_000..3_600_000));
        crowd[index] = armed::<P>(cx, start + after);
    }
}

/// Start and stop a timer of one second while 1, 5, 10 million others live (the benchmark of `RussellLuo/timingwheel`).
#[derive(Clone, Copy)]
pub(crate) struct StartStop;

impl Workload for StartStop {
    fn run<P: Peer>(&self, scale: Scale) -> Measured {
        let million = if scale.quick { 100_000 } else { 1_000_000 };
        let count = scale.of(400_000);
        let stage = Stage::new::<P>(1);
        let (costs, crowd) = stage.on_worker(move |cx| {
            let mut crowd: Crowd<P> = Vec::with_capacity(10 * million);
            let mut cost = |live| {
                grow::<P>(cx, &mut crowd, live);
                start_stop::<P>(cx, count)
            };
            let costs = [cost(million), cost(5 * million), cost(10 * million)];
            (costs, crowd)
        });
        drop(crowd);
        let [one, five, ten] = costs;
        Measured::new(
            [one, five, ten, ten / one],
            Did::cancelled((10 * million + 3 * count) as u64),
        )
    }
}

/// Spread over ten seconds as in the original, but an hour away, so that none fires meanwhile.
fn grow<P: Peer>(cx: &mut Context<'_>, crowd: &mut Crowd<P>, live: usize) {
    let start = Instant::now() + Duration::from_secs(3600);
    for index in crowd.len()..live {
        crowd.push(armed::<P>(
            cx,
            start + Duration::from_millis(index as u64 % 10_000),
        ));
    }
}

fn start_stop<P: Peer>(cx: &mut Context<'_>, count: usize) -> f64 {
    let second = Duration::from_secs(1);
    let mut run = |count| (0..count).for_each(|_| arm(cx, black_box(pin!(P::sleep(second)))));
    run(count / 10);
    let begin = Instant::now();
    run(count);
    per(begin.elapsed(), count)
}

/// A million half-hour checks created at once, nine of ten settled before their time; the rest falls due.
///
/// Nobody waits for half an hour: what is left is moved to a moment shortly ahead, as far apart as it was created.
#[derive(Clone, Copy)]
pub(crate) struct HalfHour;

impl Workload for HalfHour {
    fn run<P: Peer>(&self, scale: Scale) -> Measured {
        let count = scale.of(1_000_000);
        let stage = Stage::new::<P>(1);
        let (create, cancel, rest) = stage.on_worker(move |cx| half_hour::<P>(cx, count));
        let left = rest.len();
        let due = stage.on_worker(|_| fall_due::<P>(rest));
        let fire = due.cpu();
        let did = Did {
            armed: count as u64,
            moved: left as u64,
            fired: due.ready(&stage),
            cancelled: (count - left) as u64,
        };
        assert_eq!(did.armed, did.cancelled + did.fired, "{}", P::NAME);
        Measured::new(
            [
                per(create, count),
                per(cancel, count - left),
                per(fire, left),
            ],
            did,
        )
    }
}

fn half_hour<P: Peer>(cx: &mut Context<'_>, count: usize) -> (Duration, Duration, Crowd<P>) {
    settle_heap();
    let begin = Instant::now();
    let mut checks: Crowd<P> = Vec::with_capacity(count);
    for _ in 0..count {
        let mut check = Box::pin(P::sleep(Duration::from_secs(1800)));
        arm(cx, check.as_mut());
        checks.push(check);
    }
    let create = begin.elapsed();
    checks.shuffle(&mut seeded());
    let begin = Instant::now();
    checks.truncate(count / 10);
    (create, begin.elapsed(), checks)
}

fn fall_due<P: Peer>(mut checks: Crowd<P>) -> Volley<P> {
    let fired = Arc::new(Count::default());
    let waker = Waker::from(Arc::clone(&fired));
    let cx = &mut Context::from_waker(&waker);
    settle_heap();
    let start = Instant::now() + Duration::from_millis(500);
    for (index, check) in checks.iter_mut().enumerate() {
        P::reset(check.as_mut(), start + Duration::from_micros(index as u64));
        arm(cx, check.as_mut());
    }
    Volley::new(start, checks, fired)
}

fn per(time: Duration, count: usize) -> f64 {
    time.as_nanos() as f64 / count as f64
}
