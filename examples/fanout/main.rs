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
//! It shows timeouts per second by workers, and how late those fire that do (`load.rs`); how long arming a timer takes
//! while a million others expire, and what memory they take (`benches/timers/expiry.rs`).
//!
//! The sides take turns, in changing order, and each round of a side is a process of its own, so
//! that no side uses memory that another has left. What every task must have come to is known
//! beforehand, and checked. Lateness beside other load: `--busy 2`.
//!
//! `cargo run --release -p fanout -- --help`

mod chart;
mod load;
mod outcome;
mod report;
mod sides;

use std::iter::successors;
use std::path::PathBuf;
use std::thread::available_parallelism;

use anyhow::{Context, Result};
use clap::{Parser, value_parser};
use common::others::{self, Neighbours};
use common::process::Busy;
use common::{Side, println};

/// Calls of each task at a time, each under a timeout of its own.
const CALLS: u64 = 4;
/// One task in so many has a call that is never answered.
const LOST: u64 = 200;

/// A million tasks under timeouts, nearly all cancelled: on tokio's timers, and on the wheel's
#[derive(Clone, Debug, Parser)]
#[command(name = "fanout")]
pub(crate) struct Options {
    /// Tasks, each under a timeout
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = value_parser!(u64).range(1..=100_000_000))]
    tasks: u64,

    /// How often each side runs, in turns; medians count
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = value_parser!(u64).range(1..=1000))]
    rounds: u64,

    /// Threads that compute beside
    #[arg(long, value_name = "N", default_value_t = 0)]
    busy: usize,

    /// Where the picture goes
    #[arg(long, value_name = "PATH", default_value = "target/fanout.svg", value_parser = common::writable)]
    svg: PathBuf,

    /// Run a round of one side in this process, and print what came of it as JSON
    #[arg(long, value_enum, hide = true)]
    side: Option<Side>,
}

/// One per core.
fn workers() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// The numbers of workers to measure with: powers of two, and the most.
fn worker_counts() -> impl Iterator<Item = usize> {
    let most = workers();
    let powers = successors(Some(1), |workers| Some(workers * 2));
    let below = powers.take_while(move |&workers| workers < most);
    below.chain([most])
}

/// Timeouts that the load arms: one around each task and one around each call.
fn timeouts(tasks: u64) -> u64 {
    tasks * (1 + CALLS)
}

fn main() -> Result<()> {
    let options = Options::parse();
    match options.side {
        Some(side) => sides::run(side, options.tasks),
        None => compare(&options),
    }
}

fn compare(options: &Options) -> Result<()> {
    println!("{}", report::headline(options.tasks));
    let neighbours = Neighbours::watch();
    let busy = Busy::start(options.busy);
    let sides = sides::all(options.rounds)?;
    drop(busy);
    println!("{}", report::table(&sides));
    println!("Medians of the rounds; in parentheses that of the rounds' ratios to tokio's.");
    let note = others::note(neighbours);
    println!("{note}");

    let path = &options.svg;
    let picture = chart::draw(options.tasks, &sides, &note)?;
    std::fs::write(path, picture).with_context(|| format!("writing {}", path.display()))?;
    println!("Drawn to {}.", path.display());
    println!("Every task came to what it should, and no timer fired early.");
    Ok(())
}
