//! What Linux says of this process; elsewhere every answer is `None`.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// A tick in `/proc/*/stat`: Linux shows programs 100 a second, whatever the kernel's own clock.
const TICK: Duration = Duration::from_millis(10);

/// The processor time of the whole process so far, user and system, threads that ended included.
#[must_use]
pub fn cpu_time() -> Option<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name, in parentheses, may hold spaces, so fields are counted from behind it.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let user: u32 = fields.next()?.parse().ok()?;
    let system: u32 = fields.next()?.parse().ok()?;
    Some(TICK * (user + system))
}

/// The threads of this name, of which the kernel keeps 15 bytes.
#[must_use]
pub fn threads(name: &str) -> Vec<PathBuf> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten();
    let paths = threads.filter_map(|thread| Some(thread.ok()?.path()));
    let is_so_called = |path: &PathBuf| {
        fs::read_to_string(path.join("comm")).is_ok_and(|comm| comm.trim_end() == name)
    };
    paths.filter(is_so_called).collect()
}

/// The processor time of the threads of this name so far.
#[must_use]
pub fn cpu_of_threads(name: &str) -> Option<Duration> {
    let of = |thread: PathBuf| {
        let statistics = fs::read_to_string(thread.join("schedstat")).ok()?;
        let nanos = statistics.split(' ').next()?.parse().ok()?;
        Some(Duration::from_nanos(nanos))
    };
    fs::metadata("/proc/self/schedstat").ok()?;
    // A thread that ends meanwhile is gone.
    Some(threads(name).into_iter().filter_map(of).sum())
}

/// Memory in use, in KiB.
#[must_use]
pub fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}
