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

use std::net::{SocketAddr, ToSocketAddrs as _};
use std::thread::available_parallelism;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Parser;
use common::println;
use tokio::runtime::Runtime;

use plan::{BACKENDS, CALLS_PER_NEVER, CLIENTS_PER_SILENT, Plan};
use run::{run, runtime, start};

pub use ::timers::{Tokio, Wheel};
pub use run::Load;
pub use server::Stack;

/// An HTTP gateway with a timer per call, per request and per head: tokio's, and the wheel's
#[derive(Debug, Parser)]
#[command(name = "gateway")]
struct Options {
    /// Wait for load from outside, at this address, until the process is ended; the wheel's side is
    /// served at the next port
    #[arg(long, value_name = "ADDRESS")]
    serve: Option<String>,
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
    match options.serve {
        Some(address) => until_the_end(load, &address),
        None => compare(load),
    }
}

fn compare(load: Load) -> Result<()> {
    println!(
        "A request makes {BACKENDS} calls. One in {CALLS_PER_NEVER} is never answered, and one client in \
         {CLIENTS_PER_SILENT} falls silent."
    );
    let runs = [run::<Tokio>(load)?, run::<Wheel>(load)?];
    println!("{}", report::table(&runs));
    runs.iter().try_for_each(report::check)?;
    println!("All counts are what the shares say, and no timer fired early.");
    Ok(())
}

/// Serves each side on a runtime of its own, at ports one after the other.
fn until_the_end(load: Load, address: &str) -> Result<()> {
    let first = address.to_socket_addrs()?.next();
    let first = first.context("nothing has this name")?;
    let second = SocketAddr::new(first.ip(), first.port().wrapping_add(1));
    let runtime = serve::<Tokio>(load, first)?;
    let _wheel = serve::<Wheel>(load, second)?;
    runtime.block_on(std::future::pending())
}

/// A gateway and its backends, for load from outside.
fn serve<T: Stack>(load: Load, address: SocketAddr) -> Result<Runtime> {
    let runtime = runtime(load.workers)?;
    let gateway = runtime.block_on(async { start::<T>(&Plan::of(load), address) })?;
    println!("{}: wrk -c64 --latency http://{gateway}/", T::NAME);
    Ok(runtime)
}
