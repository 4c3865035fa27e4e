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
//! `--ceiling` is another question: how many timers per second this machine's processors can arm, together (`ceiling.rs`).
//!
//! `cargo run --release -p fanout -- --help`

mod ceiling;
mod chart;
mod load;
mod sides;

use std::iter::successors;
use std::path::PathBuf;
use std::thread::available_parallelism;
use std::time::Duration;

use anyhow::Result;
use clap::{Parser, value_parser};
use common::others::{self, Neighbours};
use common::picture;
use common::process::{self, Busy};
use common::table::Columns;
use common::{Side, println};
use indicatif::{HumanCount, HumanDuration};

use self::sides::{Outcome, Rounds, TAIL};

/// Calls of each task at a time, each under a timeout of its own.
const CALLS: u64 = 4;
/// Of each task: one around itself, and one around each call.
const TIMEOUTS: u64 = 1 + CALLS;
/// One task in so many has a call that is never answered.
const LOST: u64 = 200;

/// A million tasks under timeouts, nearly all cancelled: on tokio's timers, and on the wheel's
#[derive(Clone, Debug, Parser)]
#[command(name = "fanout")]
pub(crate) struct Options {
    /// Tasks, each under a timeout
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = value_parser!(u64).range(1..=100_000_000))]
    tasks: u64,

    /// How often each side runs, in turns; a figure is the median, and the least and the most
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = value_parser!(u64).range(1..=1000))]
    rounds: u64,

    /// Threads that compute beside
    #[arg(long, value_name = "N", default_value_t = 0)]
    busy: usize,

    /// Measure in place of that how many timers per second can be armed by one worker up to all, and what limits them
    #[arg(long)]
    ceiling: bool,

    /// With --ceiling: the most workers; one per processor without it
    #[arg(long, value_name = "N", requires = "ceiling", value_parser = value_parser!(u64).range(1..=1024))]
    workers: Option<u64>,

    /// Where the picture goes; target/fanout.svg or target/ceiling.svg without it
    #[arg(long, value_name = "PATH", value_parser = common::writable)]
    svg: Option<PathBuf>,

    /// Run a round of one side in this process, and print what came of it as JSON
    #[arg(long, value_enum, hide = true)]
    side: Option<Side>,
}

/// One per core.
fn workers() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// The numbers of workers to measure with: powers of two, and the most.
fn worker_counts(most: usize) -> impl Iterator<Item = usize> {
    let powers = successors(Some(1), |workers| Some(workers * 2));
    let below = powers.take_while(move |&workers| workers < most);
    below.chain([most])
}

fn main() -> Result<()> {
    let options = Options::parse();
    match options.side {
        Some(side) => sides::run(side, options.tasks),
        None if options.ceiling => ceiling::run(&options),
        None => compare(&options),
    }
}

impl Options {
    /// Where the picture goes.
    fn svg(&self, usual: &str) -> Result<PathBuf> {
        let path = self.svg.clone().map_or_else(|| common::writable(usual), Ok);
        Ok(path?)
    }
}

fn compare(options: &Options) -> Result<()> {
    println!(
        "Timeouts: {}, of which {} fire and the others are cancelled.",
        HumanCount(options.tasks * TIMEOUTS),
        HumanCount(options.tasks.div_ceil(LOST)),
    );
    let svg = options.svg("target/fanout.svg")?;
    println!("It takes about {}.", HumanDuration(expected(options)));
    let neighbours = Neighbours::watch();
    let busy = Busy::start(options.busy);
    let sides = sides::all(options.rounds)?;
    drop(busy);
    let mark = neighbours.as_ref().map_or("", Neighbours::mark);
    others::warn(neighbours.as_ref());
    println!("{}", table(&sides, mark));
    println!(
        "Medians of the rounds, in parentheses how many times tokio's; below each the least and the most of the rounds."
    );
    let draw = |note: &str| chart::draw(options.tasks, &sides, note);
    picture::save(&svg, neighbours, draw)?;
    println!("Every task came to what it should, and no timer fired early.");
    Ok(())
}

/// Mass expiry and memory take seconds each; the load takes some microseconds a task, with each number of workers.
fn expected(options: &Options) -> Duration {
    const A_TASK: Duration = Duration::from_nanos(1_000);
    let loads = worker_counts(workers()).count() as u32;
    let run = A_TASK * options.tasks as u32 * (loads + 5);
    run * options.rounds as u32 * Side::ALL.len() as u32
}

/// A row for each figure, a column for each side: the median, how many times the first side's, and the range.
fn table<'a>(sides: &'a [Rounds], mark: &str) -> Columns<'a, Rounds> {
    let mut columns = Columns::new(sides.iter().map(|side| (side.side.name(), side)));
    let mut row = |label: String, get: &dyn Fn(&Outcome) -> f64, show: fn(f64) -> String| {
        let first = sides[0].median(get);
        columns.row(label, |side| {
            let (median, (least, most)) = (side.median(get), side.range(get));
            let ratio = median / first;
            let (least, middle, most) = (show(least), show(median), show(most));
            format!("{middle} ({ratio:.2}×){mark}\n{least} – {most}{mark}")
        });
    };
    let rate = |rate| HumanCount(rate as u64).to_string();
    for (index, workers) in worker_counts(workers()).enumerate() {
        let label = format!("timeouts per second, workers: {workers}");
        row(label, &|round| round.timeouts_per_second[index], rate);
    }
    for (index, (name, _)) in TAIL.iter().enumerate() {
        let label = format!("lateness of those that fire, {name}");
        row(label, &|round| round.late[index], duration);
    }
    for (index, (name, _)) in TAIL.iter().enumerate() {
        let label = format!("arming during a mass expiry, {name}");
        row(label, &|round| round.waits[index], duration);
    }
    if counts_memory() {
        let label = "memory of a pending timer in its box".to_owned();
        row(label, &|round| round.bytes_per_timer, bytes);
    }
    columns
}

/// On Linux alone.
fn counts_memory() -> bool {
    process::resident().is_some()
}

fn bytes(bytes: f64) -> String {
    format!("{bytes:.1} B")
}

fn duration(nanos: f64) -> String {
    format!("{:.2?}", Duration::from_nanos(nanos as u64))
}
