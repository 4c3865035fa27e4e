//! A whole service: the HTTP gateway of `examples/gateway`, with its clients and backends, at full load.

use std::time::Duration;

use ::gateway::{Load, Stack};
use common::process::cpu_time;

use crate::figure::{Did, Measured, Scale};
use crate::peer::{Timers as _, Tokio, Wheel};
use crate::race::Sides;

/// Six timers per request: for its head, for the request as a whole, and for a call to each of four backends.
const TIMERS: u64 = 6;

pub(crate) fn sides() -> Sides {
    Sides(Vec::new())
        .and_run(Wheel::NAME, run::<Wheel>)
        .and_run(Tokio::NAME, run::<Tokio>)
}

fn run<T: Stack>(scale: Scale) -> Measured {
    let load = Load {
        workers: 2,
        connections: 64,
        requests: scale.of(500) as u64,
        limit: Duration::from_secs(5),
    };
    let mut times = Vec::new();
    let played = load.play::<T>(|| times.push(cpu_time().unwrap_or_default()));
    let requests = played.expect("a gateway");
    let cpu = (times[1] - times[0]).as_nanos() as f64;
    Measured::new([cpu / requests as f64], Did::cancelled(TIMERS * requests))
}
