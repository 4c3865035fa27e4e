//! What a program takes: cargo runs it by this command, as its `runner`.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result};

use crate::counts::VARIABLE;
use crate::process;

/// Wall time, user CPU and system CPU in seconds, context switches, and peak memory in megabytes.
pub(crate) type Taken = [f64; 5];

/// Runs a program, if there is a folder where to write down what it takes.
pub(crate) fn measure(program: &[OsString]) -> Result<u8> {
    let Some(folder) = env::var_os(VARIABLE).map(PathBuf::from) else {
        return Ok(0);
    };
    let (before, start) = (usage()?, Instant::now());
    let child = Command::new(&program[0]).args(&program[1..]).spawn();
    let mut child = child.with_context(|| program[0].display().to_string())?;
    fs::write(folder.join("id"), child.id().to_string())?;
    let status = child.wait()?;
    let wall = start.elapsed().as_secs_f64();
    let [_, user, system, switches, peak] = usage()?;
    // The peak is no sum.
    let taken = [wall, user - before[1], system - before[2], switches - before[3], peak];
    let mut file = File::options().create(true).append(true).open(folder.join("taken"))?;
    writeln!(file, "{}", taken.map(|number| number.to_string()).join(" "))?;
    Ok(process::code(status))
}

/// What the children of this process have taken that it has waited for.
#[cfg(unix)]
fn usage() -> Result<Taken> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::{TimeVal, TimeValLike as _};
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let seconds = |time: TimeVal| time.num_microseconds() as f64 / 1e6;
    let (user, system) = (seconds(usage.user_time()), seconds(usage.system_time()));
    // In kilobytes, except on Apple's systems.
    let unit = if cfg!(target_vendor = "apple") { 1e6 } else { 1e3 };
    let switches = usage.voluntary_context_switches() as f64;
    Ok([0.0, user, system, switches, usage.max_rss() as f64 / unit])
}

#[cfg(not(unix))]
fn usage() -> Result<Taken> {
    Ok([0.0; 5])
}

/// Reads what was written down. `cargo bench` and `cargo test` run several programs.
pub(crate) fn read(folder: &Path) -> Result<Taken> {
    const NONE: &str = "cargo has run no program: name a command that does, such as run or bench";
    let text = fs::read_to_string(folder.join("taken")).context(NONE)?;
    let mut sum: Taken = [0.0; 5];
    for line in text.lines() {
        for (at, number) in line.split(' ').enumerate() {
            let number: f64 = number.parse()?;
            sum[at] = if at == 4 { sum[at].max(number) } else { sum[at] + number };
        }
    }
    Ok(sum)
}
