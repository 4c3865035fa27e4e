//! The memory of this process, where the system tells.

use std::fs;

/// The most memory that was in use since [`forget_peak`], in KiB.
pub fn peak() -> Option<u64> {
    status("VmHWM:")
}

/// Memory in use, in KiB.
pub fn resident() -> Option<u64> {
    status("VmRSS:")
}

/// Has the peak begin at what is in use now.
pub fn forget_peak() {
    // Where there is no such file, there is no peak either.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

fn status(name: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}
