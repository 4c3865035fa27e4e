//! The implementations and their rounds. Each round runs in a process of its own, which prints its results as numbers.

use std::env;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use common::conditions::Conditions;
use common::process::{numbers, resident};
use common::{alternate, median, processors, range};
use hdrhistogram::Histogram;
use timers::{Precise, Timers, Tokio, Wheel, expiry};

use crate::{TIMEOUTS, counts_memory, load, rows, worker_counts};

/// Timers to compare, and the function that measures them once.
type Implementation = (&'static str, fn(u64) -> Result<Vec<f64>>);

/// The implementations that this system has.
pub(crate) const IMPLEMENTATIONS: &[Implementation] = &[
    (Tokio::NAME, measure::<Tokio>),
    (Wheel::NAME, measure::<Wheel>),
    #[cfg(target_os = "linux")]
    (Precise::<50>::NAME, measure::<Precise<50>>),
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
    pub(crate) name: &'static str,
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
pub(crate) fn all(rounds: usize, conditions: &Conditions) -> Result<Vec<Rounds>> {
    let mut results = vec![Vec::new(); IMPLEMENTATIONS.len()];
    for (round, index) in alternate(rounds, IMPLEMENTATIONS.len()) {
        let (name, _) = IMPLEMENTATIONS[index];
        eprintln!("[{}/{rounds}] {name}", round + 1);
        conditions.sample();
        results[index].push(in_a_process(index).context(name)?);
    }
    let all = IMPLEMENTATIONS.iter().zip(results);
    Ok(all
        .map(|(&(name, _), results)| Rounds { name, results })
        .collect())
}

/// Runs one round with the options of this process.
fn in_a_process(index: usize) -> Result<Vec<f64>> {
    let mut this = Command::new(env::current_exe()?);
    this.args(env::args_os().skip(1));
    let numbers = numbers(this.args(["--implementation", &index.to_string()]))?;
    ensure!(numbers.len() == rows().len(), "no results: {numbers:?}");
    Ok(numbers)
}

/// Runs one round of this implementation in this process.
pub(crate) fn run(index: usize, tasks: u64) -> Result<()> {
    let (_, measure) = IMPLEMENTATIONS.get(index).context("no such index")?;
    for number in measure(tasks)? {
        println!("{number}");
    }
    Ok(())
}

/// Returns a number for each of [`rows`].
fn measure<T: Timers>(tasks: u64) -> Result<Vec<f64>> {
    let (workers, count) = (processors(), tasks as usize);
    // Measure memory first, because whatever runs later uses memory that others have freed.
    let runtime = T::runtime(workers);
    let before = resident().unwrap_or(0);
    let sleeps = expiry::arm_far::<T>(runtime.handle(), count);
    let grown = resident().unwrap_or(0).saturating_sub(before);
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
