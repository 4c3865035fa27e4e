//! A gateway, its backends and its clients, over TCP on this machine alone: the service that
//! arms a timer for every call, every request and every connection, and needs almost none of them.
//!
//! ```text
//! client ──request──▶ gateway ──call──▶ backend 1   each call under its own timeout,
//!        ◀──answer───         ──call──▶ backend 2   the request under another one,
//!                             ──call──▶ backend …   the connection under an idle timer
//! ```
//!
//! The same work is done once on `tokio::time` and once on `wheel`, each on a fresh runtime.
//! Which calls are slow and which never get an answer follows from their number, so what the
//! timers must have done is known beforehand and checked at the end.
//!
//! `cargo run --release --example gateway -- --help`

mod backend;
mod check;
mod client;
mod frame;
mod gateway;
mod link;
mod machine;
mod options;
mod plan;
mod report;
mod run;
mod server;
mod timers;

use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use options::{Options, Side};
use timers::{Tokio, Wheel};

fn main() -> ExitCode {
    match compare(&Options::read()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn compare(options: &Options) -> Result<()> {
    println!("{}", report::headline(options));
    let runs: Vec<_> = options
        .sides()
        .iter()
        .map(|&side| run_on(side, options))
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

fn run_on(side: Side, options: &Options) -> Result<run::Run> {
    match side {
        Side::Tokio => run::run::<Tokio>(options),
        Side::Wheel => run::run::<Wheel>(options),
    }
    .with_context(|| format!("the run on {side} failed"))
}
