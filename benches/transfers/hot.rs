//! Which lines go most often, and what code makes them.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::simulate::Counted;

/// Sites that are listed of a line.
const SITES: usize = 6;

pub(crate) fn list(counted: &Counted) -> Result<String> {
    let sites = counted.lines.iter().flat_map(|line| &line.sites);
    let addresses: Vec<u64> = sites.map(|site| site.1).collect();
    let names = Names::look_up(counted.start, &addresses)?;
    let mut text = format!("{:.1} transfers per operation\n\n", counted.transfers);
    let per = |transfers: u64| transfers as f64 / counted.operations;
    for line in &counted.lines {
        let (address, each) = (line.address, per(line.transfers));
        writeln!(text, "line {address:x}: {each:.3} per operation")?;
        for &(offset, code, transfers) in line.sites.iter().take(SITES) {
            let (each, code) = (per(transfers), names.get(code));
            writeln!(text, "    {each:6.3}  +{offset:<2}  {code}")?;
        }
    }
    Ok(text)
}

/// Functions by their addresses.
struct Names(BTreeMap<u64, String>);

impl Names {
    /// `start` is where the program's code was loaded.
    fn look_up(start: u64, addresses: &[u64]) -> Result<Self> {
        let executable = env::current_exe()?;
        let expected = start_of_code(&fs::read(&executable)?).context("an ELF file")?;
        let base = start.wrapping_sub(expected);
        let mut addresses = addresses.to_vec();
        addresses.sort_unstable();
        addresses.dedup();
        let offsets = addresses.iter().map(|address| address.wrapping_sub(base));
        let offsets = offsets.map(|offset| format!("{offset:x}"));
        let output = Command::new("addr2line")
            .args(["--addresses", "--functions", "--inlines", "--demangle"])
            .arg("--exe")
            .arg(&executable)
            .args(offsets)
            .output()
            .context("addr2line, of binutils")?;
        ensure!(output.status.success(), "addr2line failed");
        let output = String::from_utf8(output.stdout)?;
        let blocks = output.split("0x").filter(|block| !block.is_empty());
        Ok(Self(addresses.into_iter().zip(blocks.map(name)).collect()))
    }

    fn get(&self, address: u64) -> &str {
        self.0.get(&address).map_or("?", String::as_str)
    }
}

/// Where an ELF file of 64 bits wants its code to be loaded.
fn start_of_code(file: &[u8]) -> Option<u64> {
    const LOADED: u64 = 1;
    const EXECUTABLE: u64 = 1;
    let number = |at: usize, size: usize| -> Option<u64> {
        let bytes = file.get(at..at + size)?.iter().rev();
        Some(bytes.fold(0, |number, &byte| number << 8 | u64::from(byte)))
    };
    let (table, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    let mut headers = (0..count).map(|index| (table + index * size) as usize);
    let code = headers.find(|&header| {
        number(header, 4) == Some(LOADED)
            && number(header + 4, 4).is_some_and(|flags| flags & EXECUTABLE != 0)
    });
    number(code? + 16, 8)
}

/// The functions around an instruction, the innermost first, as far as they say something.
fn name(block: &str) -> String {
    const FRAMES: usize = 3;
    if block.contains("??\n??") {
        return "another library's (malloc, memcpy …)".to_owned();
    }
    let lines: Vec<&str> = block.lines().skip(1).collect();
    let frames = lines.chunks_exact(2).map(|frame| (frame[0], frame[1]));
    let is_telling = |place: &str| {
        let is_source = place.contains("/src/") || place.contains("/benches/");
        is_source && !place.starts_with("/rustc/")
    };
    let telling = frames.clone().filter(|(_, place)| is_telling(place));
    let mut told: Vec<_> = telling.take(FRAMES).collect();
    if told.is_empty() {
        told.extend(frames.take(1));
    }
    let told = told.into_iter();
    let told = told.map(|(function, place)| format!("{function} ({})", file(place)));
    told.collect::<Vec<_>>().join(" < ")
}

/// The package's part of a path, and the line.
fn file(place: &str) -> &str {
    let source = place.rfind("/src/").unwrap_or(0);
    let package = place[..source].rfind('/').map_or(0, |slash| slash + 1);
    &place[package..]
}
