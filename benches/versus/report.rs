//! Outcomes on the terminal.

use common::median;
use common::table::{Cell, markdown, number};
use serde_json::Value;

use crate::baseline::{self, Change};
use crate::figure::{Figure, Unit};
use crate::outcome::{Outcome, Row};

const HEADER: [&str; 7] = ["figure", "", "peer", "theirs", "ours", "ratio", "of rounds"];

/// Further columns where goals are asked for.
const GOALS: [&str; 2] = ["goal", ""];

const CHANGES: [&str; 6] = ["figure", "", "side", "then", "now", "ratio"];

/// The names of all figures and what they are.
pub(crate) fn list(figures: &[Figure]) -> String {
    let width = figures
        .iter()
        .map(|figure| figure.name.len())
        .max()
        .unwrap_or(0);
    figures
        .iter()
        .map(|figure| format!("{:width$}  {}\n", figure.name, figure.about))
        .collect()
}

pub(crate) fn table(outcomes: &[Outcome], goals: bool) -> String {
    let further = GOALS.into_iter().filter(|_| goals);
    let mut table = markdown(HEADER.into_iter().chain(further));
    for outcome in outcomes {
        for (index, row) in outcome.rows.iter().enumerate() {
            let name = if index == 0 { outcome.name } else { "" };
            let mut cells = cells(name, row);
            if goals {
                cells.extend([number(goal(row)), Cell::new(verdict(row))]);
            }
            table.add_row(cells);
        }
    }
    table.to_string()
}

fn cells(name: &str, row: &Row) -> Vec<Cell> {
    let (low, high) = (row.ratios[0], row.ratios[row.ratios.len() - 1]);
    vec![
        Cell::new(name),
        Cell::new(row.what()),
        Cell::new(row.peer),
        number(amount(median(&row.theirs), row.line.unit)),
        number(amount(median(&row.ours), row.line.unit)),
        number(ratio(row.ratio)),
        number(format!("{}–{}", ratio(low), ratio(high))),
    ]
}

fn goal(row: &Row) -> String {
    let ratio = row.goal.ratio.map(|goal| format!("{}×", plain(goal)));
    let bound = row
        .goal
        .at_most
        .map(|goal| format!("≤ {}", amount(goal, row.line.unit)));
    ratio
        .into_iter()
        .chain(bound)
        .collect::<Vec<_>>()
        .join(", ")
}

/// As few decimals as it takes, three at most.
fn plain(goal: f64) -> f64 {
    (goal * 1e3).round() / 1e3
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
    if value < 10.0 {
        format!("{value:.2}")
    } else {
        format!("{value:.1}")
    }
}

fn amount(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Nanos if value < 1e4 => format!("{value:.1} ns"),
        Unit::Nanos if value < 1e6 => format!("{:.1} µs", value / 1e3),
        Unit::Nanos => format!("{:.2} ms", value / 1e6),
        Unit::Bytes => format!("{value:.1} B"),
        Unit::Times => format!("{value:.2}×"),
        Unit::Count => format!("{value:.0}"),
    }
}

/// This run against one of the past; a peer's ratio tells what the machine's mood did to ours.
pub(crate) fn changes(before: &Value, outcomes: &[Outcome]) -> String {
    let mut table = markdown(CHANGES);
    let mut last = "";
    for change in baseline::changes(before, outcomes) {
        let name = if change.figure == last {
            ""
        } else {
            change.figure
        };
        last = change.figure;
        table.add_row(change_cells(name, &change));
    }
    let about = |what: &str| before[what].as_str().unwrap_or("unknown").to_owned();
    format!(
        "\nThen: {}; {}; {}\n\n{table}\nThen ÷ now: larger is better.",
        about("machine"),
        about("versions"),
        about("run")
    )
}

fn change_cells(name: &str, change: &Change) -> Vec<Cell> {
    let unit = change.line.unit;
    vec![
        Cell::new(name),
        Cell::new(change.line.what),
        Cell::new(change.side),
        number(amount(change.then, unit)),
        number(amount(change.now, unit)),
        number(ratio(change.ratio())),
    ]
}
