//! What a program takes: cargo runs it by this command, as its `runner`.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};

use crate::process;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Where to write it down. Without a folder the program is not run.
    #[arg(long)]
    folder: Option<PathBuf>,
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    program: Vec<OsString>,
}

/// Wall time, user CPU and system CPU in seconds, context switches, and peak memory in megabytes.
pub(crate) type Taken = [f64; 5];

pub(crate) fn measure(options: &Options) -> Result<u8> {
    let Some(folder) = &options.folder else {
        return Ok(0);
    };
    let (before, start) = (usage()?, Instant::now());
    let mut command = Command::new(&options.program[0]);
    let child = command.args(&options.program[1..]).spawn();
    let mut child = child.with_context(|| options.program[0].display().to_string())?;
    fs::write(folder.join("id"), child.id().to_string())?;
    let status = child.wait()?;
    let wall = start.elapsed().as_secs_f64();
    let mut taken = usage()?;
    taken[0] = wall;
    // The peak is no sum.
    (1..4).for_each(|at| taken[at] -= before[at]);
    let mut file = File::options().create(true).append(true).open(folder.join("taken"))?;
    writeln!(file, "{}", taken.map(|number| number.to_string()).join(" "))?;
    Ok(process::code(status))
}

/// What the children of this process have taken that it has waited for.
#[cfg(unix)]
fn usage() -> Result<Taken> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike as _;
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let [user, system] =
        [usage.user_time(), usage.system_time()].map(|time| time.num_microseconds() as f64 / 1e6);
    // In kilobytes, except on Apple's systems.
    let unit = if cfg!(target_vendor = "apple") { 1e6 } else { 1e3 };
    Ok([
        0.0,
        user,
        system,
        usage.voluntary_context_switches() as f64,
        usage.max_rss() as f64 / unit,
    ])
}

#[cfg(not(unix))]
fn usage() -> Result<Taken> {
    Ok([0.0; 5])
}

/// Reads what was written down. `cargo bench` and `cargo test` run several programs.
pub(crate) fn read(folder: &Path) -> Result<Taken> {
    let text = fs::read_to_string(folder.join("taken")).unwrap_or_default();
    let mut sum: Taken = [0.0; 5];
    ensure!(
        !text.is_empty(),
        "cargo has run no program: name a command that does, such as run or bench"
    );
    for line in text.lines() {
        for (at, number) in line.split(' ').enumerate().take(sum.len()) {
            let number: f64 = number.parse()?;
            sum[at] = if at == 4 { sum[at].max(number) } else { sum[at] + number };
        }
    }
    Ok(sum)
}
