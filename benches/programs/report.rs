//! The table: a row per program and implementation.

use clap::ValueEnum;
use common::conditions::QUIET;
use common::table::{Table, markdown, number};
use common::{median, range, word};

use crate::program::Program;
use crate::rounds::Run;
use crate::side::Side;

pub(crate) fn table() -> Table {
    markdown([
        "program",
        "implementation",
        "operations/s",
        "÷ tokio's",
        "CPU per operation, µs",
        "÷ tokio's",
        "timers per operation",
        "cache line, ns",
        "others",
    ])
}

/// Adds the rows of a program. A ratio is the median of the rounds' ratios, with its range.
pub(crate) fn add(table: &mut Table, program: Program, sides: &[(Side, Vec<Run>)]) {
    let Some((_, tokio)) = sides.first().filter(|(_, runs)| !runs.is_empty()) else {
        return;
    };
    for (side, runs) in sides {
        let is_tokio = *side == Side::Tokio;
        let values = |value: fn(&Run) -> f64| runs.iter().map(value).collect::<Vec<_>>();
        let ratios = |value: fn(&Run) -> f64| {
            runs.iter()
                .zip(tokio)
                .map(|(run, tokio)| value(run) / value(tokio))
                .collect::<Vec<_>>()
        };
        let (throughput, cpu) = (ratios(|run| run.operations), ratios(|run| run.cpu_micros));
        let verdict = match range(&throughput) {
            (_, most) if most < 1.0 => " **slower**",
            (least, _) if least > 1.0 => " faster",
            _ => "",
        };
        let others = median(&values(|run| run.others));
        table.add_row([
            if is_tokio {
                title(program)
            } else {
                String::new()
            }
            .into(),
            side.name().into(),
            number(spread(&values(|run| run.operations), 0)),
            number(if is_tokio {
                String::new()
            } else {
                spread(&throughput, 2) + verdict
            }),
            number(spread(&values(|run| run.cpu_micros), 3)),
            number(if is_tokio {
                String::new()
            } else {
                spread(&cpu, 2)
            }),
            number(if *side == Side::Tree {
                format!("{:.2}", median(&values(|run| run.timers)))
            } else {
                String::new()
            }),
            number(if program.has_two_workers() {
                spread(&values(|run| run.transfer), 0)
            } else {
                String::new()
            }),
            number(format!(
                "{others:.2}{}",
                if others < QUIET { "" } else { " !" }
            )),
        ]);
    }
}

/// The name of a program, the version of its crate, and what it does.
fn title(program: Program) -> String {
    let package = program.package();
    let locked =
        include_str!("Cargo.lock").split_once(&format!("name = \"{package}\"\nversion = \""));
    let version = locked
        .and_then(|(_, rest)| rest.split('"').next())
        .unwrap_or_default();
    format!(
        "{}: {package} {version}, {}",
        word(&program),
        program
            .to_possible_value()
            .and_then(|value| Some(value.get_help()?.to_string()))
            .unwrap_or_default()
    )
}

/// The median, and the least and the most.
fn spread(values: &[f64], digits: usize) -> String {
    let (least, most) = range(values);
    format!(
        "{:.digits$} ({least:.digits$}–{most:.digits$})",
        median(values)
    )
}
