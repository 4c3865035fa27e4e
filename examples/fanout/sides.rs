//! The sides, each in a process of its own, one after the other.

use std::env;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use common::Side;

use crate::options::Options;
use crate::outcome::Outcome;
use crate::report::progress_bar;
use crate::timers::{Timers, Tokio, Wheel};
use crate::{expiry, load};

/// Runs every side, each in a process of its own with the options of this one.
pub(crate) fn all() -> Result<Vec<Outcome>> {
    let precise = cfg!(target_os = "linux").then_some(Side::Precise);
    let sides = [Side::Tokio, Side::Wheel].into_iter().chain(precise);
    sides.map(in_a_process).collect()
}

fn in_a_process(side: Side) -> Result<Outcome> {
    let value = side.to_possible_value().context("a side has a name")?;
    let output = Command::new(env::current_exe()?)
        .args(env::args_os().skip(1))
        .args(["--side", value.get_name()])
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(
        output.status.success(),
        "the run on {} failed: {}",
        side.name(),
        output.status
    );
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Runs one side in this process.
pub(crate) fn run(side: Side, options: &Options) -> Result<()> {
    let outcome = match side {
        Side::Tokio => measure::<Tokio>(side, options)?,
        Side::Wheel | Side::Precise => measure::<Wheel>(side, options)?,
    };
    println!("{}", serde_json::to_string(&outcome)?);
    Ok(())
}

fn measure<T: Timers>(side: Side, options: &Options) -> Result<Outcome> {
    let counts = options.worker_counts();
    let parts = options.rounds * (counts.len() as u64 + 1);
    let progress = progress_bar(side.name(), parts * options.tasks);
    // First: what runs later finds memory that others have freed.
    let bytes = expiry::bytes_per_timer::<T>(options)?;
    let expiries = rounds(options, || expiry::run::<T>(options, &progress))?;
    let mut outcome = Outcome::new(side, bytes, &expiries);
    for workers in counts {
        let rounds = rounds(options, || load::run::<T>(options, workers, &progress))?;
        outcome.add(workers, options.timeouts(), &rounds)?;
    }
    progress.finish_and_clear();
    Ok(outcome)
}

fn rounds<R>(options: &Options, run: impl Fn() -> Result<R>) -> Result<Vec<R>> {
    (0..options.rounds).map(|_| run()).collect()
}
