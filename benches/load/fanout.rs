//! How late the timers of the example `fanout` are beside busy programs: pairs of runs, in turns.

use std::env;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use common::others::{self, Neighbours};
use common::table::{Cell, markdown, number};
use common::{Side, median, println};
use serde_json::Value;

use crate::process::Busy;

#[derive(Args)]
pub(crate) struct Options {
    /// Tasks of each run
    #[arg(long, value_name = "N", default_value_t = 300_000)]
    tasks: u64,
    /// Pairs of runs
    #[arg(long, value_name = "N", default_value_t = 10)]
    pairs: usize,
    /// Busy programs beside
    #[arg(long, value_name = "N", default_value_t = 2)]
    busy: usize,
    /// Workers
    #[arg(long, value_name = "N", default_value_t = 2)]
    workers: usize,
}

/// The most that ours may take of tokio's in the tail.
const MOST: f64 = 1.0;

struct Run {
    p50: f64,
    p99: f64,
    p999: f64,
    timeouts_per_second: f64,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    build()?;
    let neighbours = Neighbours::watch();
    let _busy = Busy::start(options.busy)?;
    let mut pairs = Vec::new();
    for pair in 0..options.pairs {
        let (tokio, wheel);
        if pair % 2 == 0 {
            tokio = one(Side::Tokio, options)?;
            wheel = one(Side::Wheel, options)?;
        } else {
            wheel = one(Side::Wheel, options)?;
            tokio = one(Side::Tokio, options)?;
        }
        pairs.push([tokio, wheel]);
    }
    println!("{}", table(&pairs));
    println!(
        "Lateness in milliseconds, {} tasks on {} workers, {} busy programs beside. Ratios are \
         ours ÷ tokio's; the last row is the median of each column. At most {MOST} is wanted at \
         p99.9.",
        options.tasks, options.workers, options.busy
    );
    println!("{}", others::note(neighbours));
    Ok(())
}

fn table(pairs: &[[Run; 2]]) -> impl std::fmt::Display {
    let mut table = markdown([
        "pair",
        "p50: tokio",
        "ours",
        "ratio",
        "p99: tokio",
        "ours",
        "ratio",
        "p99.9: tokio",
        "ours",
        "ratio",
        "timeouts/s, ratio",
    ]);
    let columns: [fn(&Run) -> f64; 3] = [|run| run.p50, |run| run.p99, |run| run.p999];
    let mut row = |name: String, pairs: &[[Run; 2]]| {
        let middle =
            |get: &dyn Fn(&[Run; 2]) -> f64| median(&pairs.iter().map(get).collect::<Vec<_>>());
        let mut cells = vec![Cell::new(name)];
        for get in columns {
            cells.push(number(format!(
                "{:.2}",
                middle(&|pair| get(&pair[0])) / 1e6
            )));
            cells.push(number(format!(
                "{:.2}",
                middle(&|pair| get(&pair[1])) / 1e6
            )));
            let ratio = middle(&|pair| get(&pair[1]) / get(&pair[0]));
            cells.push(number(format!("{ratio:.2}")));
        }
        let rate = |pair: &[Run; 2]| pair[1].timeouts_per_second / pair[0].timeouts_per_second;
        cells.push(number(format!("{:.2}", middle(&rate))));
        table.add_row(cells);
    };
    for (number, pair) in (1..).zip(pairs.chunks(1)) {
        row(format!("{number}"), pair);
    }
    row("median".to_owned(), pairs);
    table
}

fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // The picture that `fanout` draws goes to the folder of what is built.
    cargo.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    cargo
}

fn build() -> Result<()> {
    let built = cargo()
        .args(["build", "--quiet", "--release", "--package", "fanout"])
        .status()?;
    ensure!(built.success(), "fanout was not built");
    Ok(())
}

fn one(side: Side, options: &Options) -> Result<Run> {
    let value = side.to_possible_value().context("a side has a name")?;
    let output = cargo()
        .args(["run", "--quiet", "--release", "--package", "fanout", "--"])
        .args(["--rounds", "1", "--side", value.get_name()])
        .args(["--tasks", &options.tasks.to_string()])
        .args(["--workers", &options.workers.to_string()])
        .stderr(Stdio::null())
        .output()?;
    ensure!(output.status.success(), "the run on {} failed", side.name());
    let outcome: Value = serde_json::from_slice(&output.stdout)?;
    let quantiles = outcome["late"].as_array().context("no lateness")?;
    let at = |quantile: f64| {
        let found = quantiles
            .iter()
            .find(|pair| pair[0].as_f64() >= Some(quantile));
        found
            .and_then(|pair| pair[1].as_f64())
            .context("no such quantile")
    };
    let loads = outcome["loads"].as_array().context("no loads")?;
    let last = loads.last().context("no loads")?;
    Ok(Run {
        p50: at(0.5)?,
        p99: at(0.99)?,
        p999: at(0.999)?,
        timeouts_per_second: last["timeouts_per_second"].as_f64().context("no rate")?,
    })
}
