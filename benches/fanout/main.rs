//! Runs a million tasks under timeouts. Each fans out to calls under timeouts of their own, and nearly all of these
//! timeouts are cancelled. It compares Tokio's timers, tokio-wheel, and tokio-wheel with high resolution.
//!
//! ```text
//! task ──┬─ call ── answered           a timeout around the task, one around each call;
//!        ├─ call ── answered           one call in two hundred tasks is never answered,
//!        └─ call ── never: times out   and its timeout fires
//! ```
//!
//! The table and the chart show timeouts per second by number of workers, the lateness of those that fire (`load.rs`),
//! the time to arm a timer while a million others expire (`benches/timers/expiry.rs`), and the memory of a million
//! pending timers.
//!
//! The implementations run in alternating order. Each round of each runs in a process of its own, so that none uses memory that
//! another has freed. The benchmark checks how many timeouts elapse, and that none is early.
//!
//! `--ceiling` measures how many timers per second this machine's processors can arm together (`ceiling.rs`).
//!
//! `cargo run --release -p fanout -- --help`

mod ceiling;
mod chart;
mod load;
mod rounds;

use std::fs;
use std::iter::successors;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::{Parser, value_parser};
use common::conditions::Conditions;
use common::process::resident;
use common::table::{Table, row, terminal};
use common::{println, processors, thousands};

use self::rounds::{IMPLEMENTATIONS, Rounds, TAIL};

/// Calls of each task at the same time, each under a timeout of its own.
const CALLS: u64 = 4;
/// Timeouts of each task: one around itself, and one around each call.
const TIMEOUTS: u64 = 1 + CALLS;
/// One task in this many has a call that is never answered.
const LOST: u64 = 200;

/// A million tasks under timeouts, nearly all of which are cancelled: Tokio's timers and tokio-wheel
#[derive(Clone, Debug, Parser)]
#[command(name = "fanout")]
pub(crate) struct Options {
    /// Number of tasks, each under a timeout
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = value_parser!(u64).range(1..=100_000_000))]
    tasks: u64,

    /// Rounds per implementation, interleaved; reports the median, minimum and maximum
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = value_parser!(u64).range(1..=1000))]
    rounds: u64,

    /// Measure how many timers per second can be armed, by one worker up to one per processor
    #[arg(long)]
    ceiling: bool,

    /// File for the chart
    #[arg(long, value_name = "PATH", default_value = "target/fanout.svg")]
    svg: PathBuf,

    /// Run one round of one implementation in this process, and print its results as numbers
    #[arg(long, hide = true)]
    implementation: Option<usize>,
}

/// Returns the numbers of workers to measure with: powers of two, and one worker per processor.
fn worker_counts() -> impl Iterator<Item = usize> {
    let most = processors();
    let powers = successors(Some(1), |workers| Some(workers * 2));
    let below = powers.take_while(move |&workers| workers < most);
    below.chain([most])
}

fn main() -> Result<()> {
    let options = Options::parse();
    match options.implementation {
        Some(index) => rounds::run(index, options.tasks),
        None if options.ceiling => ceiling::run(options.rounds as usize),
        None => compare(&options),
    }
}

fn compare(options: &Options) -> Result<()> {
    println!(
        "{} tasks under {} timeouts: {} will fire, the rest will be cancelled.",
        thousands(options.tasks),
        thousands(options.tasks * TIMEOUTS),
        thousands(options.tasks.div_ceil(LOST)),
    );
    println!("Estimated time: {} seconds.", estimate(options).as_secs());
    // If the file cannot be written, fail now rather than after a run of a minute.
    let svg = &options.svg;
    svg.parent().map_or(Ok(()), fs::create_dir_all)?;
    let cannot_write = || format!("cannot write {}", svg.display());
    let file = fs::OpenOptions::new().append(true).create(true).open(svg);
    file.with_context(cannot_write)?;

    let conditions = Conditions::watch();
    let rounds = rounds::all(options.rounds as usize, &conditions)?;
    conditions.warn();
    println!("{}", table(&rounds, conditions.mark()));
    println!(
        "Each cell shows the median (and its ratio to tokio), then the minimum and maximum over all rounds."
    );
    println!("{conditions}");
    let chart = chart::draw(options.tasks, &rounds, &conditions.to_string());
    fs::write(svg, chart).with_context(cannot_write)?;
    println!("Chart: {}", svg.display());
    println!("All tasks finished as expected, and no timer fired early.");
    Ok(())
}

/// Mass expiry and memory take about 5 µs per task together; the load takes 1 µs per task and number of workers, with
/// each number of workers.
fn estimate(options: &Options) -> Duration {
    const PER_TASK: Duration = Duration::from_nanos(1_000);
    let loads = worker_counts().count() as u32;
    let run = PER_TASK * options.tasks as u32 * (loads + 5);
    run * options.rounds as u32 * IMPLEMENTATIONS.len() as u32
}

type Show = fn(f64) -> String;

/// Returns the label of each result, and how it is shown.
fn rows() -> Vec<(String, Show)> {
    let mut rows: Vec<(String, Show)> = Vec::new();
    for workers in worker_counts() {
        let label = format!("timeouts per second, workers: {workers}");
        rows.push((label, |rate| thousands(rate as u64)));
    }
    for what in ["lateness of fired timeouts", "arming during a mass expiry"] {
        let tail = TAIL.iter().map(|(name, _)| format!("{what}, {name}"));
        rows.extend(tail.map(|label| (label, duration as Show)));
    }
    if counts_memory() {
        let label = "memory per pending boxed timer".to_owned();
        rows.push((label, bytes));
    }
    rows
}

fn table(rounds: &[Rounds], mark: &str) -> Table {
    let mut table = terminal(rounds.iter().map(|one| one.name));
    for (at, (label, show)) in rows().into_iter().enumerate() {
        let first = rounds[0].median(at);
        let cell = |one: &Rounds| {
            let (median, (least, most)) = (one.median(at), one.range(at));
            let ratio = match first {
                0.0 => String::new(),
                _ => format!(" ({:.2}×)", median / first),
            };
            let [least, middle, most] = [least, median, most].map(show);
            format!("{middle}{ratio}{mark}\n{least} – {most}{mark}")
        };
        table.add_row(row(label, rounds.iter().map(cell)));
    }
    table
}

/// Only Linux reports the memory of a process.
fn counts_memory() -> bool {
    resident().is_some()
}

fn bytes(bytes: f64) -> String {
    format!("{bytes:.1} B")
}

fn duration(nanos: f64) -> String {
    format!("{:.2?}", Duration::from_nanos(nanos as u64))
}
