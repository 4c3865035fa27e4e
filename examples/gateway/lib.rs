//! An HTTP gateway, its backends and its clients, on this machine alone: the service that arms a
//! timer for every call, every request and every head, and needs almost none of them.
//!
//! ```text
//! client ──request──▶ gateway ──call──▶ backend 1   each call under its own timeout,
//!        ◀──answer───         ──call──▶ backend 2   the request under a `TimeoutLayer`,
//!                             ──call──▶ backend …   its head under hyper's header-read timer
//! ```
//!
//! The same work is done once on `tokio::time` and once on `wheel`, each on a fresh runtime.
//! Which calls are slow and which never get an answer follows from their number, so what the
//! timers must have done is known beforehand and checked at the end.
//!
//! `cargo run --release -p gateway -- --help`
//!
//! Programs that measure have [`Load`].

mod backend;
mod check;
mod client;
mod gateway;
mod load;
mod plan;
mod report;
mod run;
mod server;
mod stack;
mod tally;
mod upstream;

use std::net::SocketAddr;
use std::thread::available_parallelism;

use anyhow::{Context, Result, ensure};
use clap::{Parser, value_parser};
use common::println;

use plan::Plan;
use run::{Run, run, serve};

pub use load::Load;
pub use stack::{Stack, Tokio, Wheel};

/// An HTTP gateway with a timer per call, per request and per head: tokio's, and the wheel's
#[derive(Debug, Parser)]
#[command(name = "gateway")]
pub(crate) struct Options {
    /// Client connections, all open at once
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = value_parser!(u64).range(1..=100_000))]
    connections: u64,

    /// Requests that each connection sends
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = value_parser!(u64).range(1..=1_000_000))]
    requests: u64,

    /// Worker threads of the runtime [default: one per core]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    workers: Option<u16>,

    /// Wait for load from outside, at this address, until the process is ended; the wheel's side is
    /// served at the next port
    #[arg(long, value_name = "ADDRESS")]
    serve: Option<SocketAddr>,
}

impl Options {
    fn workers(&self) -> usize {
        let cores = || available_parallelism().map_or(1, usize::from);
        self.workers.map_or_else(cores, usize::from)
    }

    fn plan(&self) -> Plan {
        Plan::with_every_fate(self.connections, self.requests)
    }
}

/// Does what the command line asks for.
pub fn command_line() -> Result<()> {
    let options = Options::parse();
    match options.serve {
        Some(address) => until_the_end(&options, address),
        None => compare(&options),
    }
}

fn compare(options: &Options) -> Result<()> {
    println!("{}", report::headline(options));
    let runs = [
        run::<Tokio>(options).context("the run on tokio::time failed")?,
        run::<Wheel>(options).context("the run on wheel failed")?,
    ];
    println!("{}", report::table(&runs));
    let faults = |run: &Run| check::faults(&options.plan(), run);
    let faults: Vec<_> = runs.iter().flat_map(faults).collect();
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    println!("All counts are what the shares say, and no timer fired early.");
    Ok(())
}

/// Serves each side on a runtime of its own, at ports one after the other; at free ports where the first is 0.
fn until_the_end(options: &Options, first: SocketAddr) -> Result<()> {
    let mut second = first;
    if first.port() != 0 {
        let next = first.port().checked_add(1);
        second.set_port(next.context("there is no port after 65535 for the wheel's side")?);
    }
    let (runtime, service) = serve::<Tokio>(options, first)?;
    let _wheel = serve::<Wheel>(options, second)?;
    runtime.block_on(service.gateway.ended())?;
    Ok(())
}
