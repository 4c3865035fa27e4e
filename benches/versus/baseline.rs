//! What was measured, kept in a file: figure → line → side → median. A later run is compared with it.

use std::fs;
use std::path::Path;

use common::machine::Circumstances;
use common::median;
use serde_json::{Map, Value, json};

use crate::figure::Line;
use crate::outcome::Outcome;

/// One side's median of one line, in a run of the past and in this one.
pub(crate) struct Change {
    pub(crate) figure: &'static str,
    pub(crate) line: Line,
    pub(crate) side: &'static str,
    pub(crate) then: f64,
    pub(crate) now: f64,
}

impl Change {
    /// How many times better it is now.
    pub(crate) fn ratio(&self) -> f64 {
        self.line.compare(self.then, self.now)
    }
}

/// `others` is how many processors were not ours meanwhile: with many, the file is not worth much.
pub(crate) fn write(
    path: &Path,
    circumstances: &Circumstances,
    run: &str,
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
        "run": run,
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

/// What `baseline` has too.
pub(crate) fn changes(baseline: &Value, outcomes: &[Outcome]) -> Vec<Change> {
    let change = |figure: &'static str, (line, side, now): (Line, &'static str, f64)| {
        let then = baseline["figures"][figure][line.what][side].as_f64()?;
        Some(Change {
            figure,
            line,
            side,
            then,
            now,
        })
    };
    let changes = |outcome: &Outcome| {
        let medians = medians(outcome).into_iter();
        let changes = medians.filter_map(|median| change(outcome.name, median));
        changes.collect::<Vec<_>>()
    };
    outcomes.iter().flat_map(changes).collect()
}

/// Ours before the peers', line by line.
fn medians(outcome: &Outcome) -> Vec<(Line, &'static str, f64)> {
    let mut medians: Vec<(Line, &'static str, f64)> = Vec::new();
    for row in outcome.rows.iter().filter(|row| !row.own) {
        if medians
            .last()
            .is_none_or(|last| last.0.what != row.line.what)
        {
            medians.push((row.line, "ours", median(&row.ours)));
        }
        medians.push((row.line, row.peer, median(&row.theirs)));
    }
    medians
}
