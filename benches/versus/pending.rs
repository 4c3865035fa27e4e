//! Timers that stay: polled again, pushed out, replaced among a million, and what the number of them costs.

use std::hint::black_box;
use std::pin::pin;
use std::task::Context;
use std::time::Duration;

use rand::Rng;
use timers::arm;
use tokio::time::Instant;

use crate::figure::{Did, Measured};
use crate::peer::Peer;
use crate::stage::{Crowd, Stage, armed, each, seeded};

const MILLION: usize = 1_000_000;

/// A pending timer polled again and again by the same task.
pub(crate) fn repoll<P: Peer>() -> Measured {
    let cost = Stage::new::<P>(1).on_worker(|cx| {
        let mut sleep = pin!(P::sleep(Duration::from_secs(30)));
        each(3 * MILLION, |some| {
            (0..some).for_each(|_| arm(black_box(sleep.as_mut()), cx));
        })
    });
    Measured::cancelled([cost], 1)
}

/// Idle timeouts of 256 connections, each pushed out by every packet: `reset` to later, then a poll. A packet comes every
/// five microseconds, to the connections in turn.
pub(crate) fn reset_later<P: Peer>() -> Measured {
    const CONNECTIONS: usize = 256;
    let cost = Stage::new::<P>(1).on_worker(|cx| {
        let start = Instant::now() + Duration::from_secs(30);
        let mut idle: Crowd<P> = (0..CONNECTIONS).map(|_| armed::<P>(cx, start)).collect();
        let mut packet = 0;
        each(MILLION, |some| {
            for _ in 0..some {
                let sleep = &mut idle[packet % CONNECTIONS];
                let at = start + Duration::from_micros(5 * packet as u64);
                P::reset(sleep.as_mut(), at);
                arm(sleep.as_mut(), cx);
                packet += 1;
            }
        })
    });
    let did = Did {
        moved: MILLION as u64,
        fired: 0,
        cancelled: CONNECTIONS as u64,
    };
    Measured::new([cost], did)
}

/// One of a million pending timers, taken at random, is cancelled and replaced.
pub(crate) fn random_replace<P: Peer>() -> Measured {
    const REPLACED: usize = 400_000;
    let stage = Stage::new::<P>(1);
    let mut crowd = stage.crowd::<P>(MILLION);
    let (cost, crowd) = stage.on_worker(move |cx| {
        let mut rng = seeded();
        let start = Instant::now();
        let cost = each(REPLACED, |some| {
            for _ in 0..some {
                let index = rng.random_range(0..MILLION);
                let after = Duration::from_millis(rng.random_range(1_000..3_600_000));
                crowd[index] = armed::<P>(cx, start + after);
            }
        });
        (cost, crowd)
    });
    drop(crowd);
    Measured::cancelled([cost], MILLION + REPLACED)
}

/// Start and stop a timer of one second while 1, 5, 10 million others live (the benchmark of `RussellLuo/timingwheel`).
pub(crate) fn start_stop<P: Peer>() -> Measured {
    const STARTED: usize = 400_000;
    let (costs, crowd) = Stage::new::<P>(1).on_worker(|cx| {
        let mut crowd: Crowd<P> = Vec::with_capacity(10 * MILLION);
        let costs = [1, 5, 10].map(|live| {
            grow::<P>(cx, &mut crowd, live * MILLION);
            each(STARTED, |some| {
                for _ in 0..some {
                    arm(black_box(pin!(P::sleep(Duration::from_secs(1)))), cx);
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
fn grow<P: Peer>(cx: &mut Context<'_>, crowd: &mut Crowd<P>, live: usize) {
    let start = Instant::now() + Duration::from_secs(3600);
    for index in crowd.len()..live {
        let within = Duration::from_millis(index as u64 % 10_000);
        crowd.push(armed::<P>(cx, start + within));
    }
}
