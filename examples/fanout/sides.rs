//! The sides, each in a process of its own, one after the other.

use std::env;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;

use crate::options::{Options, Side};
use crate::outcome::Outcome;
use crate::report::progress_bar;
use crate::timers::{Timers, Tokio, Wheel, Without};
use crate::{crowd, expiry, load};

impl Side {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Side::Without => Without::NAME,
            Side::Tokio => Tokio::NAME,
            Side::Wheel => Wheel::NAME,
        }
    }
}

/// Runs every side, each in a process of its own with the options of this one.
pub(crate) fn all() -> Result<Vec<Outcome>> {
    let sides = Side::value_variants().iter();
    sides.map(|&side| in_a_process(side)).collect()
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
    let outcome = Outcome::from_json(&serde_json::from_slice(&output.stdout)?)?;
    ensure!(outcome.is_of(side), "another side has run");
    Ok(outcome)
}

/// Runs one side in this process.
pub(crate) fn run(side: Side, options: &Options) -> Result<()> {
    let outcome = match side {
        Side::Without => {
            let progress = progress_bar(Without::NAME, options.tasks);
            let crowd = crowd::run::<Without>(options, &progress)?;
            progress.finish_and_clear();
            Outcome::of_crowd(Without::NAME, crowd)
        }
        Side::Tokio => measure::<Tokio>(options)?,
        Side::Wheel => measure::<Wheel>(options)?,
    };
    println!("{}", outcome.to_json());
    Ok(())
}

fn measure<T: Timers>(options: &Options) -> Result<Outcome> {
    let counts = options.worker_counts();
    let parts = 1 + options.rounds * (counts.len() as u64 + 1);
    let progress = progress_bar(T::NAME, parts * options.tasks);
    let mut outcome = Outcome::of_crowd(T::NAME, crowd::run::<T>(options, &progress)?);
    for workers in counts {
        let rounds = rounds(options, || load::run::<T>(options, workers, &progress))?;
        outcome.add(workers, options.timeouts(), &rounds)?;
    }
    outcome.expire(&rounds(options, || expiry::run::<T>(options, &progress))?);
    progress.finish_and_clear();
    Ok(outcome)
}

fn rounds<R>(options: &Options, run: impl Fn() -> Result<R>) -> Result<Vec<R>> {
    (0..options.rounds).map(|_| run()).collect()
}
