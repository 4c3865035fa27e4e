//! The sides, each round of each in a process of its own, in turns.

use std::env;
use std::process::{Command, Stdio};

use anyhow::{Result, ensure};
use common::{Side, process, word};
use timers::{Timers, Tokio, Wheel, expiry};
use tokio::runtime::{Builder, Runtime};

use crate::load::{self, Load};
use crate::outcome::{Outcome, Quantiles, Rounds};
use crate::{timeouts, worker_counts, workers};

/// Runs every side so often, in changing order: what the machine does meanwhile meets all.
pub(crate) fn all(rounds: u64) -> Result<Vec<Rounds>> {
    let sides = &Side::ALL[..if cfg!(target_os = "linux") { 3 } else { 2 }];
    let empty = |&side| Rounds {
        side,
        outcomes: Vec::new(),
    };
    let mut sides: Vec<_> = sides.iter().map(empty).collect();
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
    let bytes_per_timer = bytes_per_timer::<T>(&runtime(side, workers)?, count);
    let expiry = expiry::run::<T>(runtime(side, workers)?.handle(), workers, count);
    ensure!(expiry.fired == tasks, "{} timers expired", expiry.fired);
    let load = |workers| load::run::<T>(&runtime(side, workers)?, tasks, workers);
    let loads: Vec<Load> = worker_counts().map(load).collect::<Result<_>>()?;
    let rate = |load: &Load| timeouts(tasks) as f64 / load.took.as_secs_f64();
    Ok(Outcome {
        bytes_per_timer: bytes_per_timer.unwrap_or_default(),
        timeouts_per_second: loads.iter().map(rate).collect(),
        late: loads
            .last()
            .map(|load| Quantiles::of(&load.late))
            .unwrap_or_default(),
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
