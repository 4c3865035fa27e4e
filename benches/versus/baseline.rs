//! What was measured, kept in a file: figure → line → side → median. A later run is compared with it.

use std::fs;
use std::path::Path;

use common::machine::Circumstances;
use serde_json::{Map, Value, json};

use crate::figure::Line;
use crate::outcome::Outcome;

/// `others` is how many processors were not ours meanwhile: with many, the file is not worth much.
pub(crate) fn write(
    path: &Path,
    circumstances: &Circumstances,
    others: Option<f64>,
    outcomes: &[Outcome],
) {
    let mut figures = Map::new();
    for outcome in outcomes {
        let lines = figures.entry(outcome.name).or_insert_with(|| json!({}));
        for (line, side, median) in medians(outcome) {
            lines[line.what][side] = json!(rounded(median));
        }
    }
    let baseline = json!({
        "figures": figures,
        "machine": circumstances.machine,
        "versions": circumstances.versions,
        "others busy": others.map(rounded),
    });
    fs::write(path, format!("{baseline:#}\n"))
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// To a thousandth: no figure is known better.
fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

/// A file that [`write()`] has written. It is read before it may be written again.
pub(crate) fn read(path: &str) -> Result<Value, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let value: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let figures = value.get("figures").is_some();
    figures.then_some(value).ok_or("it has no figures".into())
}

/// Each side's median of each line: ours before the peers', line by line.
pub(crate) fn medians(outcome: &Outcome) -> Vec<(Line, &'static str, f64)> {
    let mut medians = Vec::new();
    let mut last = None;
    for row in outcome.rows.iter().filter(|row| !row.own) {
        if last.replace(row.line.what) != Some(row.line.what) {
            medians.push((row.line, "ours", row.ours));
        }
        medians.push((row.line, row.peer, row.theirs));
    }
    medians
}
