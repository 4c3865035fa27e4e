//! The sides, each round of each in a process of its own, in turns. What came of a round goes from that process to the one
//! that compares, as JSON, and there come the medians.

use std::env;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Result, ensure};
use common::{Side, median, process, range, word};
use hdrhistogram::Histogram;
use indicatif::HumanDuration;
use serde::{Deserialize, Serialize};
use timers::{Timers, Tokio, Wheel, expiry};
use tokio::runtime::{Builder, Runtime};

use crate::{TIMEOUTS, load, worker_counts, workers};

/// Where a distribution is looked at.
pub(crate) const TAIL: [(&str, f64); 6] = [
    ("50 %", 0.5),
    ("90 %", 0.9),
    ("99 %", 0.99),
    ("99.9 %", 0.999),
    ("99.99 %", 0.9999),
    ("longest", 1.0),
];

/// Nanoseconds there.
pub(crate) type Tail = [f64; TAIL.len()];

fn tail(nanos: &Histogram<u64>) -> Tail {
    TAIL.map(|(_, quantile)| nanos.value_at_quantile(quantile) as f64)
}

/// Everything about one round of one side.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Outcome {
    /// While all are pending; 0 where the system does not tell.
    pub(crate) bytes_per_timer: f64,
    /// By numbers of workers.
    pub(crate) timeouts_per_second: Vec<f64>,
    /// With the most workers.
    pub(crate) late: Tail,
    pub(crate) waits: Tail,
}

/// All rounds of one side. Medians are what counts: the system takes a processor away now and then.
#[derive(Debug)]
pub(crate) struct Rounds {
    pub(crate) side: Side,
    outcomes: Vec<Outcome>,
}

impl Rounds {
    pub(crate) fn median(&self, get: impl Fn(&Outcome) -> f64) -> f64 {
        median(&self.outcomes.iter().map(get).collect::<Vec<_>>())
    }

    /// The least and the most.
    pub(crate) fn range(&self, get: impl Fn(&Outcome) -> f64) -> (f64, f64) {
        range(&self.outcomes.iter().map(get).collect::<Vec<_>>())
    }
}

/// Runs every side so often, in changing order: what the machine does meanwhile meets all.
pub(crate) fn all(rounds: u64) -> Result<Vec<Rounds>> {
    let empty = |&side| Rounds {
        side,
        outcomes: Vec::new(),
    };
    let mut sides: Vec<_> = Side::ALL.iter().map(empty).collect();
    let began = Instant::now();
    for round in 1..=rounds {
        for side in &mut sides {
            eprintln!("round {round} of {rounds}: {} …", side.side.name());
            side.outcomes.push(in_a_process(side.side)?);
        }
        let left = began.elapsed() * (rounds - round) as u32 / round as u32;
        eprintln!("about {} left", HumanDuration(left));
        sides.reverse();
    }
    sides.sort_by_key(|side| side.side as u8);
    Ok(sides)
}

/// One round, with the options of this process.
fn in_a_process(side: Side) -> Result<Outcome> {
    let output = Command::new(env::current_exe()?)
        .args(env::args_os().skip(1))
        .args(["--side", &word(&side)])
        .stderr(Stdio::inherit())
        .output()?;
    let status = output.status;
    ensure!(status.success(), "{} failed: {status}", side.name());
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Runs one side in this process.
pub(crate) fn run(side: Side, tasks: u64) -> Result<()> {
    let outcome = match side {
        Side::Tokio => measure::<Tokio>(side, tasks)?,
        Side::Wheel | Side::Precise => measure::<Wheel>(side, tasks)?,
    };
    println!("{}", serde_json::to_string(&outcome)?);
    Ok(())
}

fn measure<T: Timers>(side: Side, tasks: u64) -> Result<Outcome> {
    let (workers, count) = (workers(), tasks as usize);
    // First: what runs later finds memory that others have freed.
    let home = runtime(side, workers)?;
    let before = process::resident().unwrap_or(0);
    let sleeps = expiry::arm_far::<T>(home.handle(), count);
    let grown = process::resident().unwrap_or(0).saturating_sub(before);
    drop((sleeps, home));
    let expiry = expiry::run::<T>(runtime(side, workers)?.handle(), workers, count);
    ensure!(expiry.fired == tasks, "{} timers expired", expiry.fired);
    let (mut timeouts_per_second, mut late) = (Vec::new(), Tail::default());
    for workers in worker_counts(workers) {
        let load = load::run::<T>(&runtime(side, workers)?, tasks, workers)?;
        timeouts_per_second.push((tasks * TIMEOUTS) as f64 / load.took.as_secs_f64());
        late = tail(&load.late);
    }
    Ok(Outcome {
        bytes_per_timer: grown as f64 * 1024.0 / tasks as f64,
        timeouts_per_second,
        late,
        waits: tail(&expiry.waits),
    })
}

/// A runtime whose timers are as the side has them.
fn runtime(side: Side, workers: usize) -> Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.worker_threads(workers).enable_all().build()?;
    if side == Side::Precise {
        let precise = wheel::Builder::new().high_resolution(true);
        runtime.block_on(async { precise.install() })?;
    }
    Ok(runtime)
}
