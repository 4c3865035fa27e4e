//! The implementations and their rounds. Each round runs in a process of its own, which prints its results as numbers.

use std::env;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use common::conditions::Conditions;
use common::{median, process, range};
use hdrhistogram::Histogram;
use timers::{Precise, Timers, Tokio, Wheel, expiry};

use crate::{TIMEOUTS, counts_memory, load, rows, worker_counts, workers};

/// Timers to compare.
#[derive(Debug)]
pub(crate) struct Implementation {
    pub(crate) name: &'static str,
    measure: fn(u64) -> Result<Vec<f64>>,
}

impl Implementation {
    const fn of<T: Timers>() -> Self {
        Self {
            name: T::NAME,
            measure: measure::<T>,
        }
    }
}

/// Returns the implementations that this system has.
pub(crate) const IMPLEMENTATIONS: &[Implementation] = &[
    Implementation::of::<Tokio>(),
    Implementation::of::<Wheel>(),
    #[cfg(target_os = "linux")]
    Implementation::of::<Precise<50>>(),
];

/// The parts of a distribution that are shown.
pub(crate) const TAIL: [(&str, f64); 6] = [
    ("p50", 0.5),
    ("p90", 0.9),
    ("p99", 0.99),
    ("p99.9", 0.999),
    ("p99.99", 0.9999),
    ("longest", 1.0),
];

fn tail(nanos: &Histogram<u64>) -> impl Iterator<Item = f64> {
    TAIL.iter()
        .map(|(_, quantile)| nanos.value_at_quantile(*quantile) as f64)
}

/// All rounds of one implementation: a number for each of [`rows`].
#[derive(Debug)]
pub(crate) struct Rounds {
    pub(crate) of: &'static Implementation,
    results: Vec<Vec<f64>>,
}

impl Rounds {
    fn row(&self, at: usize) -> Vec<f64> {
        self.results.iter().map(|result| result[at]).collect()
    }

    /// Returns the median, because now and then the system takes a processor away.
    pub(crate) fn median(&self, at: usize) -> f64 {
        median(&self.row(at))
    }

    pub(crate) fn range(&self, at: usize) -> (f64, f64) {
        range(&self.row(at))
    }
}

/// Runs every implementation this many times in alternating order, so that disturbances affect all of them.
pub(crate) fn all(rounds: u64, conditions: &Conditions) -> Result<Vec<Rounds>> {
    let mut order: Vec<_> = IMPLEMENTATIONS.iter().enumerate().collect();
    let mut results = vec![Vec::new(); order.len()];
    let began = Instant::now();
    for round in 1..=rounds {
        for &(index, one) in &order {
            eprintln!("[{round}/{rounds}] {}", one.name);
            conditions.sample();
            results[index].push(in_a_process(index).context(one.name)?);
        }
        let left = began.elapsed() * (rounds - round) as u32 / round as u32;
        eprintln!("About {} seconds remaining.", left.as_secs());
        order.reverse();
    }
    let all = IMPLEMENTATIONS.iter().zip(results);
    Ok(all.map(|(of, results)| Rounds { of, results }).collect())
}

/// Runs one round with the options of this process.
fn in_a_process(index: usize) -> Result<Vec<f64>> {
    let output = Command::new(env::current_exe()?)
        .args(env::args_os().skip(1))
        .args(["--implementation", &index.to_string()])
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(output.status.success(), "failed: {}", output.status);
    let text = String::from_utf8(output.stdout)?;
    let numbers = text.split_whitespace().map(str::parse);
    let numbers = numbers.collect::<Result<Vec<_>, _>>()?;
    ensure!(numbers.len() == rows().len(), "no results: {text}");
    Ok(numbers)
}

/// Runs one round of this implementation in this process.
pub(crate) fn run(index: usize, tasks: u64) -> Result<()> {
    let one = IMPLEMENTATIONS.get(index).context("no such index")?;
    for number in (one.measure)(tasks)? {
        println!("{number}");
    }
    Ok(())
}

/// Returns a number for each of [`rows`].
fn measure<T: Timers>(tasks: u64) -> Result<Vec<f64>> {
    let (workers, count) = (workers(), tasks as usize);
    // Measure memory first, because whatever runs later uses memory that others have freed.
    let runtime = T::runtime(workers);
    let before = process::resident().unwrap_or(0);
    let sleeps = expiry::arm_far::<T>(runtime.handle(), count);
    let grown = process::resident().unwrap_or(0).saturating_sub(before);
    drop((sleeps, runtime));
    let expiry = expiry::run::<T>(T::runtime(workers).handle(), workers, count);
    ensure!(expiry.fired == tasks, "{} timers expired", expiry.fired);
    let (mut results, mut late) = (Vec::new(), Histogram::new(3)?);
    for workers in worker_counts() {
        let load = load::run::<T>(&T::runtime(workers), tasks, workers)?;
        results.push((tasks * TIMEOUTS) as f64 / load.took.as_secs_f64());
        // The lateness of the last run, with the most workers, is shown.
        late = load.late;
    }
    results.extend(tail(&late).chain(tail(&expiry.waits)));
    results.extend(counts_memory().then(|| grown as f64 * 1024.0 / tasks as f64));
    Ok(results)
}
