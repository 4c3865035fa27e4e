//! Which lines go most often, and what code makes them.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use common::println;

use crate::simulate::Counted;

/// Sites that are listed of a line.
const SITES: usize = 6;

pub(crate) fn list(counted: &Counted) -> Result<()> {
    let names = names(counted)?;
    println!("{:.1} transfers per operation\n", counted.transfers());
    for line in &counted.lines {
        let (address, each) = (line.address, counted.per_operation(line.transfers));
        println!("line {address:x}: {each:.3} per operation");
        for (offset, code, transfers) in line.sites.iter().take(SITES) {
            let (each, code) = (counted.per_operation(*transfers), &names[code]);
            println!("    {each:6.3}  +{offset:<2}  {code}");
        }
    }
    Ok(())
}

/// What is at the addresses of code.
fn names(counted: &Counted) -> Result<BTreeMap<u64, String>> {
    let sites = counted.lines.iter().flat_map(|line| &line.sites);
    let addresses: BTreeSet<u64> = sites.map(|site| site.1).collect();
    let offsets = addresses
        .iter()
        .map(|address| address.wrapping_sub(counted.start));
    let output = Command::new("addr2line")
        .args(["-a", "-f", "-i", "-p", "-C", "-e"])
        .arg(env::current_exe()?)
        .args(offsets.map(|offset| format!("{offset:x}")))
        .output()
        .context("addr2line, of binutils")?;
    ensure!(output.status.success(), "addr2line failed");
    let output = String::from_utf8(output.stdout)?;
    let names = output.split("\n0x").map(name);
    Ok(addresses.into_iter().zip(names).collect())
}

/// The functions around an instruction, the innermost first, as far as they say something. A block is
///
/// ```text
/// 0x0000000000123456: wheel::arm at /home/me/tokio-wheel/src/driver/timer.rs:12
///  (inlined by) wheel::poll at /home/me/tokio-wheel/src/sleep.rs:34
/// ```
///
/// Another library, as malloc's and memcpy's, has question marks for names.
fn name(block: &str) -> String {
    const FRAMES: usize = 3;
    let (_, frames) = block.split_once(": ").unwrap_or_default();
    let told: Vec<_> = frames.lines().filter_map(frame).take(FRAMES).collect();
    match told.as_slice() {
        [] => frames.lines().next().unwrap_or_default().to_owned(),
        told => told.join(" < "),
    }
}

/// The function, and the package's part of the path; `None` for the standard library.
fn frame(text: &str) -> Option<String> {
    let (function, place) = text.split_once(" at ")?;
    let function = function.trim_start_matches(" (inlined by) ");
    let sources = place.rsplit_once("/src/");
    let sources = sources.or(place.rsplit_once("/benches/"));
    let (before, file) = sources.filter(|_| !place.starts_with("/rustc/"))?;
    let package = before.rsplit('/').next()?;
    Some(format!("{function} ({package}: {file})"))
}
