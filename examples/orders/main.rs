//! A shop in a sale: a million orders in ten minutes, each to be undone half an hour later unless
//! it has been confirmed by then. Most have.
//!
//! ```text
//! order ──▶ insert(order, 30 min) ──▶ … confirmed: remove(key)
//!                                     … or not:    the entry expires, the order is undone
//! ```
//!
//! The same orders go through `wheel::DelayQueue` and through tokio-util's, each in a process of
//! its own, so that memory can be told apart. The clock is virtual: the hour takes seconds, and
//! all of it is work. What has to come out follows from the plan, and is checked.
//!
//! `cargo run --release -p orders -- --help`

mod plan;
mod queues;
mod report;
mod run;

use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, ensure};
use clap::{Parser, ValueEnum};
use common::println;

use plan::Plan;
use report::Figures;

/// A million orders, each with a check half an hour later; most are confirmed before.
#[derive(Debug, Parser)]
struct Options {
    /// How many orders there are.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    orders: u32,
    /// How many of a hundred are confirmed in time.
    #[arg(long, default_value_t = 95, value_parser = clap::value_parser!(u8).range(..=100))]
    confirmed: u8,
    /// Which orders are confirmed, and when.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Run this one only, and print bare figures.
    #[arg(long)]
    only: Option<Side>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Side {
    Wheel,
    TokioUtil,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let result = match options.only {
        Some(side) => run_one(side, &options),
        None => compare(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The child's part: one run, whose figures go to standard output.
fn run_one(side: Side, options: &Options) -> Result<()> {
    let plan = Plan::new(options.orders, options.confirmed, options.seed);
    let figures = match side {
        Side::Wheel => run::run::<queues::Wheel>(&plan),
        Side::TokioUtil => run::run::<queues::TokioUtil>(&plan),
    }?;
    println!("{}", figures.to_json());
    Ok(())
}

fn compare(options: &Options) -> Result<()> {
    let sides = [Side::TokioUtil, Side::Wheel];
    let figures = sides.map(|side| figures_of(side, options));
    let [theirs, ours] = figures;
    let (theirs, ours) = (theirs?, ours?);
    println!(
        "{}",
        report::table([("tokio-util", &theirs), ("wheel", &ours)])
    );
    ensure!(
        theirs.outcome == ours.outcome,
        "the two have done different things"
    );
    println!("Every order was confirmed or undone, none too early and none too late.");
    Ok(())
}

/// Has a process of its own do a run.
fn figures_of(side: Side, options: &Options) -> Result<Figures> {
    let name = side.to_possible_value().context("a side has a name")?;
    let output = Command::new(std::env::current_exe()?)
        .args(["--only", name.get_name()])
        .args(["--orders", &options.orders.to_string()])
        .args(["--confirmed", &options.confirmed.to_string()])
        .args(["--seed", &options.seed.to_string()])
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(
        output.status.success(),
        "the run with {} failed",
        name.get_name()
    );
    Figures::from_json(&String::from_utf8(output.stdout)?)
}
