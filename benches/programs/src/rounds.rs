//! Runs one program. Each round runs every implementation, in alternating order.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use common::conditions::Conditions;
use common::process::numbers;
use common::{alternate, line};
use load::peer::BINARY;

use crate::program::Program;
use crate::side::Side;

/// What a program printed, and what the machine did meanwhile.
pub(crate) struct Run {
    pub(crate) operations: f64,
    pub(crate) cpu_micros: f64,
    pub(crate) timers: f64,
    /// The time of a cache-line transfer: the longer of those before and after the run, or 0 if neither is known.
    pub(crate) transfer: f64,
    pub(crate) others: f64,
}

/// Runs all rounds. Returns the runs of each side, round by round.
pub(crate) fn run(
    program: &Program,
    sides: &[(Side, PathBuf)],
    rounds: usize,
    seconds: f64,
) -> Result<Vec<(Side, Vec<Run>)>> {
    let mut runs: Vec<_> = sides.iter().map(|(side, _)| (*side, Vec::new())).collect();
    for (round, index) in alternate(rounds, sides.len()) {
        let (side, binary) = &sides[index];
        let what = format!("{} on {}", program.name, side.name());
        let run = once(program, binary, &sides[0].1, seconds).context(what.clone())?;
        let is_on_wheel = run.timers > 0.0;
        ensure!(is_on_wheel == (*side == Side::Tree), "{what}: other timers");
        eprintln!(
            "[{}/{rounds}] {what}: {:.0} operations per second, {:.3} µs each, {:.0} ns per cache line, {:.2} others",
            round + 1,
            run.operations,
            run.cpu_micros,
            run.transfer,
            run.others,
        );
        runs[index].1.push(run);
    }
    Ok(runs)
}

fn once(program: &Program, binary: &Path, tokios: &Path, seconds: f64) -> Result<Run> {
    let (before, conditions) = (transfer(), Conditions::watch());
    let mut process = Command::new("timeout");
    process.arg((seconds + 15.0).to_string()).arg(binary);
    process.args(["run", &seconds.to_string(), &program.size.to_string()]);
    let printed = numbers(process.env(BINARY, tokios))?;
    let others = conditions.busy().unwrap_or(0.0);
    let [operations, cpu_micros, timers] = printed[..] else {
        bail!("printed {printed:?}")
    };
    Ok(Run {
        operations,
        cpu_micros,
        timers,
        transfer: before.max(transfer()),
        others,
    })
}

/// Returns how long a cache line takes from one processor to the other, in nanoseconds, or 0 if that is not known.
fn transfer() -> f64 {
    line::nanos().unwrap_or(0.0)
}
