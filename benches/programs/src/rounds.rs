//! Runs one program. Each round runs every implementation, in alternating order.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use common::conditions::Conditions;
use common::line;
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
    for round in 0..rounds {
        let mut order: Vec<_> = (0..sides.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for index in order {
            let (side, binary) = &sides[index];
            let run = once(program, binary, &sides[0].1, seconds);
            let run = run.with_context(|| format!("{} on {}", program.name, side.name()))?;
            ensure!(
                (run.timers > 0.0) == (*side == Side::Tree),
                "{} does not run on {}",
                program.name,
                side.name()
            );
            eprintln!(
                "[{}/{rounds}] {} on {}: {:.0} operations per second, {:.3} µs each, {:.0} ns per cache line, {:.2} others",
                round + 1,
                program.name,
                side.name(),
                run.operations,
                run.cpu_micros,
                run.transfer,
                run.others,
            );
            runs[index].1.push(run);
        }
    }
    Ok(runs)
}

fn once(program: &Program, binary: &Path, tokios: &Path, seconds: f64) -> Result<Run> {
    let (before, conditions) = (transfer(), Conditions::watch());
    let mut process = Command::new(binary)
        .args(["run", &seconds.to_string(), &program.size.to_string()])
        .env(BINARY, tokios)
        .stdout(Stdio::piped())
        .spawn()?;
    let deadline = Instant::now() + Duration::from_secs_f64(seconds + 15.0);
    let status = loop {
        match process.try_wait()? {
            Some(status) => break status,
            None if Instant::now() > deadline => {
                process.kill()?;
                process.wait()?;
                bail!("did not end");
            }
            None => sleep(Duration::from_millis(50)),
        }
    };
    ensure!(status.success(), "{status}");
    let mut printed = String::new();
    process
        .stdout
        .take()
        .context("its output")?
        .read_to_string(&mut printed)?;
    let others = conditions.busy().unwrap_or(0.0);
    let values: Vec<f64> = printed
        .split_whitespace()
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    let [operations, cpu_micros, timers] = values[..] else {
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
