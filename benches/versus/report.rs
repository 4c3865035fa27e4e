//! Outcomes on the terminal and as JSON.

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{Cell, CellAlignment, Table};
use serde_json::{Value, json};

use crate::figure::{Figure, Unit};
use crate::outcome::{Outcome, Row, median};

const HEADER: [&str; 9] = [
    "figure",
    "",
    "peer",
    "theirs",
    "ours",
    "ratio",
    "of rounds",
    "goal",
    "",
];

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

pub(crate) fn table(outcomes: &[Outcome]) -> String {
    let mut table = Table::new();
    table.load_preset(ASCII_MARKDOWN).set_header(HEADER);
    for outcome in outcomes {
        for (index, row) in outcome.rows.iter().enumerate() {
            let name = if index == 0 { outcome.name } else { "" };
            table.add_row(cells(name, row));
        }
    }
    table.to_string()
}

fn cells(name: &str, row: &Row) -> Vec<Cell> {
    let number = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    let (low, high) = (row.ratios[0], row.ratios[row.ratios.len() - 1]);
    vec![
        Cell::new(name),
        Cell::new(row.what()),
        Cell::new(row.peer),
        number(amount(median(&row.theirs), row.line.unit)),
        number(amount(median(&row.ours), row.line.unit)),
        number(ratio(row.ratio)),
        number(format!("{}–{}", ratio(low), ratio(high))),
        number(goal(row)),
        Cell::new(verdict(row)),
    ]
}

fn goal(row: &Row) -> String {
    let ratio = row.goal.ratio.map(|goal| format!("{goal}×"));
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

fn verdict(row: &Row) -> &'static str {
    match row.reached() {
        Some(true) => "reached",
        Some(false) => "MISSED",
        None => "",
    }
}

/// How to read the table, and how many of its goals were missed.
pub(crate) fn summary(outcomes: &[Outcome]) -> String {
    let rows = outcomes.iter().flat_map(|outcome| &outcome.rows);
    let reached: Vec<bool> = rows.filter_map(Row::reached).collect();
    let missed = reached.iter().filter(|&&reached| !reached).count();
    let goals = match reached.len() {
        0 => String::new(),
        goals => format!(" {missed} of {goals} goals missed."),
    };
    format!(
        "Peer ÷ ours, the median of the rounds: larger is better. Own: less the bare run.{goals}"
    )
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

/// Every value of every round.
pub(crate) fn json(outcomes: &[Outcome]) -> Value {
    outcomes
        .iter()
        .flat_map(|outcome| outcome.rows.iter().map(|row| json_row(outcome, row)))
        .collect()
}

fn json_row(outcome: &Outcome, row: &Row) -> Value {
    json!({
        "figure": outcome.name,
        "about": outcome.about,
        "line": row.what(),
        "unit": unit(row.line.unit),
        "peer": row.peer,
        "theirs": row.theirs,
        "ours": row.ours,
        "ratio": row.ratio,
        "ratios": row.ratios,
        "goal": row.goal.ratio,
        "at_most": row.goal.at_most,
        "reached": row.reached(),
    })
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanos => "ns",
        Unit::Bytes => "bytes",
        Unit::Times => "times",
        Unit::Count => "count",
    }
}
