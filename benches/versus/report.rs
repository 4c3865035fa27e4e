//! Outcomes on the terminal.

use common::table::{Cell, markdown, number};
use serde_json::Value;

use crate::baseline::medians;
use crate::figure::{Figure, Unit};
use crate::outcome::{Outcome, Row};

const HEADER: [&str; 7] = ["figure", "", "peer", "theirs", "ours", "ratio", "of rounds"];

/// Further columns where goals are asked for.
const GOALS: [&str; 2] = ["goal", ""];

const CHANGES: [&str; 6] = ["figure", "", "side", "then", "now", "ratio"];

/// The names of all figures and what they are.
pub(crate) fn list(figures: &[Figure]) -> String {
    let width = figures.iter().map(|figure| figure.name.len()).max();
    let width = width.unwrap_or(0);
    let line = |figure: &Figure| format!("{:width$}  {}\n", figure.name, figure.about);
    figures.iter().map(line).collect()
}

pub(crate) fn table(outcomes: &[Outcome], goals: bool) -> String {
    let further = GOALS.into_iter().filter(|_| goals);
    let mut table = markdown(HEADER.into_iter().chain(further));
    for outcome in outcomes {
        let mut name = outcome.name;
        for row in &outcome.rows {
            let mut cells = cells(std::mem::take(&mut name), row);
            if goals {
                cells.extend([number(goal(row)), Cell::new(verdict(row))]);
            }
            table.add_row(cells);
        }
    }
    table.to_string()
}

fn cells(name: &str, row: &Row) -> Vec<Cell> {
    let [low, high] = row.range.map(ratio);
    vec![
        Cell::new(name),
        Cell::new(row.what()),
        Cell::new(row.peer),
        number(amount(row.theirs, row.line.unit)),
        number(amount(row.ours, row.line.unit)),
        number(ratio(row.ratio)),
        number(format!("{low}–{high}")),
    ]
}

fn goal(row: &Row) -> String {
    match row.goal {
        [Some(ratio), _] => format!("{ratio}×"),
        [None, Some(bound)] => format!("≤ {}", amount(bound, row.line.unit)),
        [None, None] => String::new(),
    }
}

fn verdict(row: &Row) -> &'static str {
    match row.reached() {
        Some(true) => "reached",
        Some(false) => "MISSED",
        None => "",
    }
}

/// How to read the table.
pub(crate) const SUMMARY: &str =
    "Peer ÷ ours, the median of the rounds: larger is better. Own: less the bare run.";

/// How many goals were missed.
pub(crate) fn missed(outcomes: &[Outcome]) -> String {
    let rows = outcomes.iter().flat_map(|outcome| &outcome.rows);
    let reached: Vec<bool> = rows.filter_map(Row::reached).collect();
    let missed = reached.iter().filter(|&&reached| !reached).count();
    format!("{missed} of {} goals missed.", reached.len())
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
        Unit::Bytes => format!("{value:.1} B"),
        Unit::Times | Unit::SpeedUp => format!("{value:.2}×"),
        Unit::Count => format!("{value:.0}"),
    }
}

/// This run against one of the past; a peer's ratio tells what the machine's mood did to ours.
pub(crate) fn changes(before: &Value, outcomes: &[Outcome]) -> String {
    let mut table = markdown(CHANGES);
    for outcome in outcomes {
        let mut name = outcome.name;
        for (line, side, now) in medians(outcome) {
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
