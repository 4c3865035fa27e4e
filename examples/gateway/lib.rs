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
//! timers must have done is known beforehand and checked at the end, on `/metrics` too.
//!
//! `cargo run --release -p gateway -- --help`
//!
//! Programs that measure have [`load`].

mod backend;
mod check;
mod client;
mod exporter;
mod gateway;
pub mod load;
mod machine;
mod options;
mod plan;
mod report;
mod run;
mod serve;
mod server;
mod tally;
mod timers;
mod upstream;

use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use common::println;
use exporter::Exporter;
use options::{Options, Side};
use timers::{Tokio, Wheel};

/// Does what the command line asks for.
pub fn command_line() -> ExitCode {
    match start(&Options::read()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn start(options: &Options) -> Result<()> {
    let exporter = Exporter::install()?;
    match options.serve {
        Some(address) => serve::until_the_end(options, address, &exporter),
        None => compare(options, &exporter),
    }
}

fn compare(options: &Options, exporter: &Exporter) -> Result<()> {
    println!("{}", report::headline(options));
    let runs: Vec<_> = options
        .sides()
        .iter()
        .map(|&side| run_on(side, options, exporter))
        .collect::<Result<_>>()?;
    println!("{}", report::table(&runs));

    let faults = check::all(&options.plan, &runs);
    faults.iter().for_each(|fault| eprintln!("{fault}"));
    ensure!(
        faults.is_empty(),
        "what the timers did is not what the shares say ({} of the checks)",
        faults.len()
    );
    println!("All counts are what the shares say, and no timer fired early.");
    Ok(())
}

fn run_on(side: Side, options: &Options, exporter: &Exporter) -> Result<run::Run> {
    match side {
        Side::Tokio => run::run::<Tokio>(options, exporter),
        Side::Wheel => run::run::<Wheel>(options, exporter),
    }
    .with_context(|| format!("the run on {side} failed"))
}
