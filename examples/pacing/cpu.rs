//! CPU time of the threads that drive the sender.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// The name that they carry. The kernel keeps 15 bytes of it.
pub(crate) const WORKER: &str = "pacing-worker";

/// What they have taken so far; `None` where there is no `/proc`.
pub(crate) fn of_workers() -> Option<Duration> {
    let tasks = fs::read_dir("/proc/self/task").ok()?;
    let tasks = tasks.filter_map(|task| Some(task.ok()?.path()));
    Some(tasks.filter_map(of_worker).sum())
}

fn of_worker(task: PathBuf) -> Option<Duration> {
    let name = fs::read_to_string(task.join("comm")).ok()?;
    let statistics = fs::read_to_string(task.join("schedstat")).ok()?;
    let nanos = statistics.split(' ').next()?.parse().ok()?;
    (name.trim_end() == WORKER).then_some(Duration::from_nanos(nanos))
}
