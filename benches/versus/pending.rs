//! Measures timers that stay pending while they are polled again, or reset to a later deadline.

use std::hint::black_box;
use std::pin::pin;
use std::time::Duration;

use timers::expiry::Sleeps;
use timers::{Timers, arm};
use tokio::time::Instant;

use crate::benchmark::{Measured, Value};
use crate::stage::{Stage, armed, each};

const MILLION: usize = 1_000_000;

/// Polls a pending timer again and again, in the same task.
pub(crate) fn repoll<T: Timers>() -> Measured {
    let cost = Stage::new::<T>(1).on_worker(|cx| {
        let mut sleep = pin!(T::sleep(Duration::from_secs(30)));
        each(3 * MILLION, |some| {
            (0..some).for_each(|_| arm(black_box(sleep.as_mut()), cx));
        })
    });
    Measured::cancelled([Value::nanos("time per operation", cost)], 1)
}

/// Resets the idle timeouts of 256 connections. Each packet resets one to a later deadline and polls it. A packet arrives every five
/// microseconds, for the connections in turn.
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
    let did = [MILLION as u64, 0, CONNECTIONS as u64];
    Measured::new([Value::nanos("time per operation", cost)], did)
}
