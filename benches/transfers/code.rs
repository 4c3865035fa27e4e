//! Finds the functions that caused transfers: it looks up addresses of instructions with binutils' addr2line.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// Returns the functions around each instruction of a program that was loaded at `start`, the innermost first, for example
///
/// ```text
/// wheel::arm at /home/me/tokio-wheel/src/driver/timer.rs:12
///  (inlined by) wheel::poll at /home/me/tokio-wheel/src/sleep.rs:34
/// ```
pub(crate) fn functions(
    start: u64,
    code: impl Iterator<Item = u64>,
) -> Result<BTreeMap<u64, String>> {
    let code: BTreeSet<u64> = code.collect();
    let offsets = code.iter().map(|address| address.wrapping_sub(start));
    let output = Command::new("addr2line")
        .args(["-a", "-f", "-i", "-p", "-C", "-e"])
        .arg(env::current_exe()?)
        .args(offsets.map(|offset| format!("{offset:x}")))
        .output()
        .context("addr2line, of binutils")?;
    ensure!(output.status.success(), "addr2line failed");
    let output = String::from_utf8(output.stdout)?;
    let blocks = output.split("\n0x").map(|block| {
        let (_, functions) = block.split_once(": ").unwrap_or_default();
        functions.to_owned()
    });
    Ok(code.into_iter().zip(blocks).collect())
}

/// Returns `true` if this code belongs to Tokio's operations that take the lock of its timers: the code that takes the
/// lock, and the code that runs while it is held. The standard library's code that waits for the lock does not belong
/// to them.
pub(crate) fn holds_tokios_lock(functions: &str) -> bool {
    let is_wheels = functions.contains("/runtime/time/wheel/");
    is_wheels || functions.contains("time::handle::Handle>::")
}
