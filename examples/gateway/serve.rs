//! `--serve`: the gateway and its backends, for load from outside.

use std::net::SocketAddr;

use anyhow::{Result, bail};
use common::println;
use tokio::runtime::Runtime;

use crate::exporter::Exporter;
use crate::options::{Options, Side};
use crate::run::{Service, runtime};
use crate::timers::{Timers, Tokio, Wheel};

/// Serves each side on a runtime of its own, at ports one after the other; at free ports where the first is 0.
pub(crate) fn until_the_end(
    options: &Options,
    first: SocketAddr,
    exporter: &Exporter,
) -> Result<()> {
    let mut address = first;
    let mut serving = Vec::new();
    for (&side, after) in options.sides().iter().zip(0..) {
        address.set_port(if first.port() == 0 {
            0
        } else {
            first.port() + after
        });
        serving.push(match side {
            Side::Tokio => start::<Tokio>(options, address, exporter)?,
            Side::Wheel => start::<Wheel>(options, address, exporter)?,
        });
    }
    for (runtime, service) in serving {
        runtime.block_on(service.gateway.ended())?;
    }
    bail!("the gateway has ended")
}

fn start<T: Timers>(
    options: &Options,
    address: SocketAddr,
    exporter: &Exporter,
) -> Result<(Runtime, Service)> {
    let runtime = runtime(options.workers)?;
    let service =
        runtime.block_on(async { Service::start::<T>(options.plan, address, exporter) })?;
    let address = service.gateway.address();
    println!(
        "{}: http://{address}/ and http://{address}/metrics",
        T::NAME
    );
    println!("  wrk -t2 -c64 -d10s --latency http://{address}/");
    Ok((runtime, service))
}
