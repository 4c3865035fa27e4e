//! The sides, each round of each in a process of its own, in turns.

use std::env;
use std::process::{Command, Stdio};

use anyhow::{Result, ensure};
use common::{Side, process, word};
use timers::{Timers, Tokio, Wheel, expiry};
use tokio::runtime::{Builder, Runtime};

use crate::outcome::{Outcome, Quantiles, Rounds, Throughput};
use crate::{Options, load};

/// Runs every side so often, in changing order: what the machine does meanwhile meets all.
pub(crate) fn all(rounds: u64) -> Result<Vec<Rounds>> {
    let precise = cfg!(target_os = "linux").then_some(Side::Precise);
    let sides = [Side::Tokio, Side::Wheel].into_iter().chain(precise);
    let empty = |side| Rounds {
        side,
        outcomes: Vec::new(),
    };
    let mut sides: Vec<_> = sides.map(empty).collect();
    for round in 0..rounds {
        let mut order: Vec<_> = sides.iter_mut().collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for side in order {
            side.outcomes.push(in_a_process(side.side)?);
        }
    }
    Ok(sides)
}

/// One round, with the options of this process.
fn in_a_process(side: Side) -> Result<Outcome> {
    eprintln!("{} …", side.name());
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
pub(crate) fn run(side: Side, options: &Options) -> Result<()> {
    let outcome = match side {
        Side::Tokio => measure::<Tokio>(side, options)?,
        Side::Wheel | Side::Precise => measure::<Wheel>(side, options)?,
    };
    println!("{}", serde_json::to_string(&outcome)?);
    Ok(())
}

fn measure<T: Timers>(side: Side, options: &Options) -> Result<Outcome> {
    let (workers, tasks) = (options.workers(), options.tasks as usize);
    // First: what runs later finds memory that others have freed.
    let bytes_per_timer = bytes_per_timer::<T>(&runtime(side, workers)?, tasks);
    let expiry = expiry::run::<T>(runtime(side, workers)?.handle(), workers, tasks);
    let (mut loads, mut late) = (Vec::new(), Quantiles::default());
    for workers in options.worker_counts() {
        let load = load::run::<T>(&runtime(side, workers)?, options.tasks, workers)?;
        late = Quantiles::of(&load.late);
        loads.push(Throughput::of(workers, options.timeouts(), &load));
    }
    Ok(Outcome {
        bytes_per_timer,
        loads,
        late,
        expired: expiry.fired,
        waits: Quantiles::of(&expiry.waits),
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

/// What memory grows by while as many are armed that are far away; `None` where the system does not tell.
fn bytes_per_timer<T: Timers>(runtime: &Runtime, count: usize) -> Option<f64> {
    let before = process::resident()?;
    let _sleeps = expiry::arm_far::<T>(runtime.handle(), count);
    let grown = process::resident()?.saturating_sub(before);
    Some(grown as f64 * 1024.0 / count as f64)
}
