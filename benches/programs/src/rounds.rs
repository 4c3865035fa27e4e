//! Runs one program. Each round runs every implementation, in alternating order.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use common::alternate;
use common::conditions::Conditions;
use common::process::printed;
use load::pace::RATE;
use load::peer::BINARY;

use crate::Options;
use crate::program::Program;
use crate::side::Side;

/// What a program printed, and what the machine did meanwhile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// Operations per second.
    pub(crate) rate: f64,
    /// The processor time of an operation, and the 99th percentile of the time that one takes, in nanoseconds.
    pub(crate) cpu: f64,
    pub(crate) p99: f64,
    pub(crate) timers: f64,
    /// How many processors other programs used.
    pub(crate) others: f64,
    /// How long a cache line took from one processor to another, in nanoseconds, at the median of before and after.
    pub(crate) line: f64,
}

/// Runs all rounds. Returns the runs of each side, round by round.
pub(crate) fn run(
    program: &Program,
    sides: &[(Side, PathBuf)],
    options: &Options,
    conditions: &Conditions,
) -> Result<Vec<(Side, Vec<Run>)>> {
    let rounds = options.rounds;
    let mut runs: Vec<_> = sides.iter().map(|(side, _)| (*side, Vec::new())).collect();
    for (round, index) in alternate(rounds, sides.len()) {
        let (side, binary) = &sides[index];
        let what = format!("{} on {}", program.name, side.name());
        conditions.sample();
        let run = once(program, binary, &sides[0].1, options).context(what.clone())?;
        ensure!(
            (run.timers > 0.0) == side.is_wheel(),
            "{what}: other timers"
        );
        eprintln!("{what}, round {}: {run:?}", round + 1);
        runs[index].1.push(run);
    }
    Ok(runs)
}

fn once(program: &Program, binary: &Path, tokios: &Path, options: &Options) -> Result<Run> {
    let (seconds, conditions) = (options.seconds, Conditions::watch());
    let mut process = Command::new("timeout");
    process.arg((seconds + 15).to_string()).arg(binary);
    process.args(["run", &seconds.to_string()]);
    process.envs(program.binary().1.map(|rate| (RATE, rate)));
    process.envs(options.workers.map(|count| ("WORKERS", count.to_string())));
    let printed = printed(process.env(BINARY, tokios))?;
    let words: Vec<_> = printed.split_whitespace().collect();
    let ["rate", rate, "cpu", cpu, "timers", timers, "p99", p99] = words[..] else {
        bail!("printed {printed:?}")
    };
    conditions.sample();
    Ok(Run {
        rate: rate.parse()?,
        cpu: cpu.parse()?,
        p99: p99.parse()?,
        timers: timers.parse()?,
        others: conditions.busy().unwrap_or(0.0),
        line: conditions.line().unwrap_or(f64::NAN),
    })
}
