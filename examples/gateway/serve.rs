//! `--serve`: the gateway and its backends, for load from outside.

use std::net::SocketAddr;

use anyhow::{Result, bail, ensure};
use common::println;
use tokio::runtime::Runtime;

use crate::exporter::Exporter;
use crate::options::{Options, Side};
use crate::run::{Service, runtime};
use crate::timers::{Timers, Tokio, Wheel};

/// Serves each side on a runtime of its own, at ports one after the other.
pub(crate) fn until_the_end(
    options: &Options,
    first: SocketAddr,
    exporter: &Exporter,
) -> Result<()> {
    let sides = options.sides();
    let ports = first.port()..=u16::MAX;
    ensure!(sides.len() <= ports.len(), "there is no port after 65535");
    let mut serving = Vec::new();
    for (&side, port) in sides.iter().zip(ports) {
        let address = SocketAddr::new(first.ip(), port);
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
    let runtime = runtime(options)?;
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
