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

mod client;
mod gateway;
mod plan;
mod report;
mod run;
mod server;
mod stack;

use std::net::{SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use common::println;
use tokio::runtime::Runtime;

use plan::{BACKENDS, Plan};
use run::{run, runtime, start};

pub use run::Load;
pub use stack::{Stack, Tokio, Wheel};

/// An HTTP gateway with a timer per call, per request and per head: tokio's, and the wheel's
#[derive(Debug, Parser)]
#[command(name = "gateway")]
struct Options {
    /// Wait for load from outside, at this address, until the process is ended; the wheel's side is
    /// served at the next port
    #[arg(long, value_name = "ADDRESS", value_parser = resolved)]
    serve: Option<SocketAddr>,
}

fn resolved(text: &str) -> Result<SocketAddr> {
    let found = text.to_socket_addrs()?.next();
    found.context("nothing has this name")
}

/// Does what the command line asks for.
pub fn command_line() -> Result<()> {
    let options = Options::parse();
    let load = Load {
        workers: available_parallelism().map_or(1, usize::from),
        connections: 64,
        requests: 500,
        limit: Duration::from_millis(250),
    };
    let plan = Plan {
        load,
        is_calm: false,
    };
    match options.serve {
        Some(address) => until_the_end(plan, address),
        None => compare(plan),
    }
}

fn compare(plan: Plan) -> Result<()> {
    println!(
        "A request makes {BACKENDS} calls, {} of all are never answered, and {} clients fall silent. Workers: {}.",
        plan.all_never(),
        plan.all_silent(),
        plan.load.workers
    );
    let runs = [
        run::<Tokio>(plan).context("the run on tokio::time failed")?,
        run::<Wheel>(plan).context("the run on wheel failed")?,
    ];
    println!("{}", report::table(&runs));
    let faults: Vec<_> = runs.iter().flat_map(report::faults).collect();
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    println!("All counts are what the shares say, and no timer fired early.");
    Ok(())
}

/// Serves each side on a runtime of its own, at ports one after the other; at free ports where the first is 0.
fn until_the_end(plan: Plan, first: SocketAddr) -> Result<()> {
    let mut second = first;
    let step = u16::from(first.port() != 0);
    second.set_port(first.port().saturating_add(step));
    let runtime = serve::<Tokio>(plan, first)?;
    let _wheel = serve::<Wheel>(plan, second)?;
    runtime.block_on(std::future::pending())
}

/// A gateway and its backends, for load from outside.
fn serve<T: Stack>(plan: Plan, address: SocketAddr) -> Result<Runtime> {
    let runtime = runtime(plan.load.workers)?;
    let gateway = runtime.block_on(async { start::<T>(plan, address, &Arc::default()) })?;
    println!(
        "{}: wrk -t2 -c64 -d10s --latency http://{gateway}/",
        T::NAME
    );
    Ok(runtime)
}
