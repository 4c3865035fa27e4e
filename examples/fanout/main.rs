//! A million tasks, each under a timeout and each fanning out to calls under timeouts of their
//! own, nearly all of which are cancelled: on `tokio::time`, on `wheel`, and on
//! `wheel` with high resolution, in turn.
//!
//! ```text
//! task ──┬─ call ── answered           a timeout around the task, one around each call;
//!        ├─ call ── answered           one call in two hundred tasks is never answered,
//!        └─ call ── never: times out   and its timeout fires
//! ```
//!
//! | file | measures |
//! | --- | --- |
//! | `load.rs` | timeouts per second by workers, and how late those fire that do |
//! | `expiry.rs` | how long arming a timer takes while a million others expire, and what memory they took |
//!
//! Each side runs in a process of its own, so that neither uses memory that the other has
//! left. What every task must have come to is known beforehand, and checked.
//!
//! `cargo run --release -p fanout -- --help`

mod chart;
mod expiry;
mod load;
mod options;
mod outcome;
mod report;
mod sides;
mod timers;

use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use common::others::{self, Neighbours};
use common::println;

use options::Options;

fn main() -> ExitCode {
    let options = Options::parse();
    let done = match options.side {
        Some(side) => sides::run(side, &options),
        None => compare(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn compare(options: &Options) -> Result<()> {
    let path = &options.svg;
    println!("{}", report::headline(options));
    let neighbours = Neighbours::watch();
    let outcomes = sides::all()?;
    println!("{}", report::table(&outcomes));
    let note = others::note(neighbours);
    println!("{note}");

    let picture = chart::draw(options, &outcomes, &note)?;
    std::fs::write(path, picture).with_context(|| format!("writing {}", path.display()))?;
    println!("Drawn to {}.", path.display());

    let faults: Vec<_> = outcomes
        .iter()
        .flat_map(|outcome| outcome.faults(options))
        .collect();
    faults.iter().for_each(|fault| eprintln!("{fault}"));
    ensure!(faults.is_empty(), "not all that was to be done was done");
    println!("Every task came to what it should, and no timer fired early.");
    Ok(())
}
