//! A whole service: the HTTP gateway of `examples/gateway`, with its clients and backends, at full load.

use std::time::Duration;

use ::gateway::load::{Load, Side, cpu_time};

use crate::figure::{Did, Figure, Measured, Scale, nanos};
use crate::peer::{Peer as _, Tokio};

/// Six timers per request: for its head, for the request as a whole, and for a call to each of four backends.
const TIMERS: u64 = 6;

pub(crate) fn figures() -> Vec<Figure> {
    vec![
        Figure::new(
            "gateway",
            "CPU per request of an HTTP gateway at full load, with clients and backends",
            |scale| run(Side::Wheel, scale),
        )
        .peer(Tokio::NAME, |scale| run(Side::Tokio, scale))
        .line(nanos("CPU each").ratio(1.01))
        .rounds(11),
    ]
}

fn run(side: Side, scale: Scale) -> Measured {
    let load = Load {
        workers: 2,
        connections: 64,
        requests: scale.of(500) as u64,
        limit: Duration::from_secs(5),
    };
    let mut times = Vec::new();
    let played = load.play(side, || times.push(cpu_time().unwrap_or_default()));
    let requests = played.expect("a gateway");
    let cpu: Duration = times[1] - times[0];
    Measured::new(
        [cpu.as_nanos() as f64 / requests as f64],
        Did::cancelled(TIMERS * requests),
    )
}
