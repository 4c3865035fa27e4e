//! Timers that stay: polled again, pushed out, made and dropped a million at a time, replaced among a million, and what
//! the number of them costs.

use std::hint::black_box;
use std::pin::pin;
use std::task::Context;
use std::time::Duration;

use rand::Rng;
use timers::expiry::Sleeps;
use timers::{Timers, arm};
use tokio::time::Instant;

use crate::figure::Measured;
use crate::stage::{DELAYS, Stage, armed, delays, each, seeded};

const MILLION: usize = 1_000_000;

/// A pending timer polled again and again by the same task.
pub(crate) fn repoll<T: Timers>() -> Measured {
    let cost = Stage::new::<T>(1).on_worker(|cx| {
        let mut sleep = pin!(T::sleep(Duration::from_secs(30)));
        each(3 * MILLION, |some| {
            (0..some).for_each(|_| arm(black_box(sleep.as_mut()), cx));
        })
    });
    Measured::cancelled([cost], 1)
}

/// Idle timeouts of 256 connections, each pushed out by every packet: `reset` to later, then a poll. A packet comes every
/// five microseconds, to the connections in turn.
pub(crate) fn reset_later<T: Timers>() -> Measured {
    const CONNECTIONS: usize = 256;
    let cost = Stage::new::<T>(1).on_worker(|cx| {
        let start = Instant::now() + Duration::from_secs(30);
        let mut idle: Sleeps<T> = (0..CONNECTIONS).map(|_| armed::<T>(cx, start)).collect();
        let mut packet = 0;
        each(MILLION, |some| {
            for _ in 0..some {
                let sleep = &mut idle[packet % CONNECTIONS];
                let at = start + Duration::from_micros(5 * packet as u64);
                T::reset(sleep.as_mut(), at);
                arm(sleep.as_mut(), cx);
                packet += 1;
            }
        })
    });
    Measured::new([cost], [MILLION as u64, 0, CONNECTIONS as u64])
}

/// A million timers in boxes, and time to create and arm each and to drop each.
pub(crate) fn boxed<T: Timers>() -> Measured {
    let costs = Stage::new::<T>(1).on_worker(|cx| {
        drop(fill::<T>(cx, MILLION / 10));
        let begin = Instant::now();
        let sleeps = fill::<T>(cx, MILLION);
        let filled = Instant::now();
        drop(sleeps);
        [filled - begin, filled.elapsed()]
    });
    let each = costs.map(|cost| cost.as_nanos() as f64 / MILLION as f64);
    Measured::cancelled(each, MILLION)
}

fn fill<T: Timers>(cx: &mut Context<'_>, count: usize) -> Sleeps<T> {
    const FAR: Duration = Duration::from_secs(60);
    let delays = delays();
    let mut sleeps: Sleeps<T> = Vec::with_capacity(count);
    for index in 0..count {
        let mut sleep = Box::pin(T::sleep(FAR + delays[index % DELAYS]));
        arm(sleep.as_mut(), cx);
        sleeps.push(sleep);
    }
    sleeps
}

/// One of a million pending timers, taken at random, is cancelled and replaced.
pub(crate) fn random_replace<T: Timers>() -> Measured {
    const REPLACED: usize = 400_000;
    let stage = Stage::new::<T>(1);
    let mut crowd = stage.crowd::<T>(MILLION);
    let (cost, crowd) = stage.on_worker(move |cx| {
        let mut rng = seeded();
        let start = Instant::now();
        let cost = each(REPLACED, |some| {
            for _ in 0..some {
                let index = rng.random_range(0..MILLION);
                let after = Duration::from_millis(rng.random_range(1_000..3_600_000));
                crowd[index] = armed::<T>(cx, start + after);
            }
        });
        (cost, crowd)
    });
    drop(crowd);
    Measured::cancelled([cost], MILLION + REPLACED)
}

/// Start and stop a timer of one second while 1, 5, 10 million others live (the benchmark of `RussellLuo/timingwheel`).
pub(crate) fn start_stop<T: Timers>() -> Measured {
    const STARTED: usize = 400_000;
    let (costs, crowd) = Stage::new::<T>(1).on_worker(|cx| {
        let mut crowd: Sleeps<T> = Vec::with_capacity(10 * MILLION);
        let costs = [1, 5, 10].map(|live| {
            grow::<T>(cx, &mut crowd, live * MILLION);
            each(STARTED, |some| {
                for _ in 0..some {
                    arm(black_box(pin!(T::sleep(Duration::from_secs(1)))), cx);
                }
            })
        });
        (costs, crowd)
    });
    drop(crowd);
    let [one, five, ten] = costs;
    Measured::cancelled([one, five, ten, ten / one], 10 * MILLION + 3 * STARTED)
}

/// Spread over ten seconds as in the original, but an hour away, so that none fires meanwhile.
fn grow<T: Timers>(cx: &mut Context<'_>, crowd: &mut Sleeps<T>, live: usize) {
    let start = Instant::now() + Duration::from_secs(3600);
    for index in crowd.len()..live {
        let within = Duration::from_millis(index as u64 % 10_000);
        crowd.push(armed::<T>(cx, start + within));
    }
}
