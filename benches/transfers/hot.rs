//! Which lines go most often, and what code makes them.

use anyhow::Result;
use common::println;

use crate::code::functions;
use crate::simulate::Counted;

/// Sites that are listed of a line.
const SITES: usize = 6;

pub(crate) fn list(counted: &Counted) -> Result<()> {
    let sites = counted.lines.iter().flat_map(|line| &line.sites);
    let functions = functions(counted.start, sites.map(|site| site.1))?;
    println!("{:.1} transfers per operation\n", counted.transfers());
    for line in &counted.lines {
        let (address, each) = (line.address, counted.per_operation(line.transfers));
        println!("line {address:x}: {each:.3} per operation");
        for (offset, code, transfers) in line.sites.iter().take(SITES) {
            let (each, code) = (counted.per_operation(*transfers), name(&functions[code]));
            println!("    {each:6.3}  +{offset:<2}  {code}");
        }
    }
    Ok(())
}

/// The functions around an instruction, the innermost first, as far as they say something. Another library, as malloc's
/// and memcpy's, has question marks for names.
fn name(frames: &str) -> String {
    const FRAMES: usize = 3;
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
