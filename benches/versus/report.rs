//! Outcomes on the terminal, and in a file with which a later run is compared.

use std::fs;
use std::io;
use std::path::Path;

use common::machine::Circumstances;
use common::table::{Cell, markdown, number};
use serde_json::{Value, json};

use crate::figure::{Figure, Unit};
use crate::outcome::{Outcome, Row};

const HEADER: [&str; 7] = ["figure", "", "peer", "theirs", "ours", "ratio", "of rounds"];

/// The names of all figures and what they are.
pub(crate) fn list(figures: &[Figure]) -> String {
    let width = figures.iter().map(|figure| figure.name.len()).max();
    let width = width.unwrap_or(0);
    let line = |figure: &Figure| format!("{:width$}  {}\n", figure.name, figure.about);
    figures.iter().map(line).collect()
}

pub(crate) fn table(outcomes: &[Outcome<'_>], goals: bool) -> String {
    let mut table = markdown(HEADER.into_iter().chain(goals.then_some("goal")));
    for outcome in outcomes {
        let mut name = outcome.name;
        for row in &outcome.rows {
            let [low, high] = row.range.map(ratio);
            let mut cells = vec![
                Cell::new(std::mem::take(&mut name)),
                Cell::new(format!("{}{}", row.line.what, row.own)),
                Cell::new(row.peer),
                number(amount(row.theirs, row.line.unit)),
                number(amount(row.ours, row.line.unit)),
                number(ratio(row.ratio)),
                number(format!("{low}–{high}")),
            ];
            cells.extend(goals.then(|| Cell::new(goal(row))));
            table.add_row(cells);
        }
    }
    table.to_string()
}

/// What is to be reached, and whether it is.
fn goal(row: &Row<'_>) -> String {
    let ratio = row
        .line
        .goals
        .get(format!("{}{}", row.peer, row.own).as_str());
    let (goal, is_reached) = match (ratio, row.line.at_most) {
        (Some(ratio), _) => (format!("{ratio}×"), row.ratio >= *ratio),
        (None, Some(most)) => (
            format!("≤ {}", amount(most, row.line.unit)),
            row.ours <= most,
        ),
        (None, None) => return String::new(),
    };
    let verdict = if is_reached { "reached" } else { "MISSED" };
    format!("{goal} {verdict}")
}

fn ratio(value: f64) -> String {
    let decimals = if value < 10.0 { 2 } else { 1 };
    format!("{value:.decimals$}")
}

fn amount(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Nanos if value < 1e4 => format!("{value:.1} ns"),
        Unit::Nanos if value < 1e6 => format!("{:.1} µs", value / 1e3),
        Unit::Nanos => format!("{:.2} ms", value / 1e6),
        Unit::Bytes if value >= 1e6 => format!("{:.1} MB", value / 1e6),
        Unit::Bytes => format!("{value:.1} B"),
        Unit::Times | Unit::SpeedUp => format!("{value:.2}×"),
        Unit::Count => format!("{value:.0}"),
    }
}

/// The medians, kept in a file: figure → line → side → median. `others` is how many processors were not ours meanwhile: with
/// many, the file is not worth much.
pub(crate) fn write(
    path: &Path,
    circumstances: &Circumstances,
    others: Option<f64>,
    outcomes: &[Outcome<'_>],
) -> io::Result<()> {
    // No figure is known better.
    let rounded = |value: f64| (value * 1e3).round() / 1e3;
    let mut baseline = json!({
        "machine": circumstances.machine,
        "versions": circumstances.versions,
        "others busy": others.map(rounded),
    });
    for outcome in outcomes {
        for (line, side, median) in &outcome.medians {
            baseline["figures"][outcome.name][line.what][side] = json!(rounded(*median));
        }
    }
    fs::write(path, format!("{baseline:#}\n"))
}

/// A file that [`write()`] has written. It is read before it may be written again.
pub(crate) fn read(path: &str) -> Result<Value, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let value: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let figures = value.get("figures").is_some();
    figures.then_some(value).ok_or("it has no figures".into())
}

/// This run against one of the past; a peer's ratio tells what the machine's mood did to ours.
pub(crate) fn changes(before: &Value, outcomes: &[Outcome<'_>]) -> String {
    let mut table = markdown(["figure", "", "side", "then", "now", "ratio"]);
    for outcome in outcomes {
        let mut name = outcome.name;
        for &(line, side, now) in &outcome.medians {
            let then = before["figures"][outcome.name][line.what][side].as_f64();
            let Some(then) = then else { continue };
            table.add_row([
                Cell::new(std::mem::take(&mut name)),
                Cell::new(line.what),
                Cell::new(side),
                number(amount(then, line.unit)),
                number(amount(now, line.unit)),
                number(ratio(line.compare(then, now))),
            ]);
        }
    }
    let [machine, versions] =
        ["machine", "versions"].map(|what| before[what].as_str().unwrap_or("unknown"));
    format!("\nThen: {machine}; {versions}\n\n{table}\nThen ÷ now: larger is better.")
}
