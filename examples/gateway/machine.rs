//! What the system says of this process; Linux only, elsewhere every answer is `None`.

use std::fs;

/// How many files the process may have open; `None` too where there is no limit.
pub(crate) fn file_limit() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}
