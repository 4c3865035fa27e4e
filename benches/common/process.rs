//! What Linux reports about this process (other systems: `None`), and programs that print numbers.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

/// A tick in `/proc/*/stat`. Linux reports 100 ticks per second to programs, whatever its own clock.
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// Returns the processor time of the whole process, user and system, including threads that have ended.
#[must_use]
pub fn cpu_time() -> Option<Duration> {
    times(2)
}

/// Adds up the first `count` of four times: this process's user time and system time, then the user time and system time of
/// the processes that it has waited for.
pub(crate) fn times(count: usize) -> Option<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name in parentheses may contain spaces, so fields are counted from its end.
    let (_, fields) = stat.rsplit_once(')')?;
    let times = fields.split_whitespace().skip(11).take(count);
    let ticks: Option<u32> = times.map(|time| time.parse::<u32>().ok()).sum();
    Some(TICK * ticks?)
}

/// Returns the text after a name and a colon, in a file of `/proc`.
pub fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = lines.find(|(called, _)| called.trim() == name)?;
    Some(value.trim())
}

/// Finds all threads of this process, or those of this name, of at most 15 bytes (the kernel keeps no more).
fn threads(name: Option<&str>) -> Vec<PathBuf> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten();
    let paths = threads.filter_map(|thread| Some(thread.ok()?.path()));
    let is_so_called = |path: &PathBuf| {
        let called = fs::read_to_string(path.join("comm"));
        name.is_none_or(|name| called.is_ok_and(|called| called.trim_end() == name))
    };
    paths.filter(is_so_called).collect()
}

/// Returns the exact processor time of the threads of this name, or of all, that are still running.
#[must_use]
pub fn cpu_of_threads(name: Option<&str>) -> Option<Duration> {
    let of = |thread: PathBuf| {
        let statistics = fs::read_to_string(thread.join("schedstat")).ok()?;
        let nanos = statistics.split(' ').next()?.parse().ok()?;
        Some(Duration::from_nanos(nanos))
    };
    fs::metadata("/proc/self/schedstat").ok()?;
    // A thread that ends meanwhile has no file any more.
    Some(threads(name).into_iter().filter_map(of).sum())
}

/// Returns the resident memory in KiB.
#[must_use]
pub fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let memory = field(&status, "VmRSS")?;
    memory.split_whitespace().next()?.parse().ok()
}

/// Runs a program, and returns what it printed.
pub fn printed(command: &mut Command) -> Result<String> {
    let output = command.stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "{command:?}: {}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

/// Runs a program, and returns the numbers that it printed.
pub fn numbers(command: &mut Command) -> Result<Vec<f64>> {
    let printed = printed(command)?;
    let numbers = printed.split_whitespace().map(str::parse);
    numbers.collect::<Result<_, _>>().context(printed)
}
