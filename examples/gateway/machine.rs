//! What the system says of this process; Linux only, elsewhere every answer is `None`.

use std::fs;
use std::time::Duration;

/// A tick in `/proc/*/stat`: Linux shows programs 100 a second, whatever the kernel's own clock.
const TICK: Duration = Duration::from_millis(10);

/// The processor time of the whole process so far, user and system, threads that ended included.
pub(crate) fn cpu_time() -> Option<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name, in parentheses, may hold spaces, so fields are counted from behind it.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let user: u32 = fields.next()?.parse().ok()?;
    let system: u32 = fields.next()?.parse().ok()?;
    Some(TICK * (user + system))
}

/// How many files the process may have open; `None` too where there is no limit.
pub(crate) fn file_limit() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}
