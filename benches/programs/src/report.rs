//! The table: a row per program and implementation.

use common::conditions::QUIET;
use common::table::{Table, markdown, number, spread};
use common::{median, range};

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
pub(crate) fn add(table: &mut Table, program: &Program, sides: &[(Side, Vec<Run>)]) {
    let Some((_, tokio)) = sides.first().filter(|(_, runs)| !runs.is_empty()) else {
        return;
    };
    for (side, runs) in sides {
        let (is_tokio, is_tree) = (*side == Side::Tokio, *side == Side::Tree);
        let values = |value: fn(&Run) -> f64| runs.iter().map(value).collect::<Vec<_>>();
        let ratios = |value: fn(&Run) -> f64| {
            let rounds = runs.iter().zip(tokio);
            let ratios = rounds.map(|(run, tokio)| value(run) / value(tokio));
            ratios.collect::<Vec<_>>()
        };
        let operations = values(|run| run.operations);
        let digits = usize::from(median(&operations) < 1e3);
        let (throughput, cpu) = (ratios(|run| run.operations), ratios(|run| run.cpu_micros));
        let verdict = match range(&throughput) {
            (_, most) if most < 1.0 => " **slower**",
            (least, _) if least > 1.0 => " faster",
            _ => "",
        };
        let (timers, others) = (
            median(&values(|run| run.timers)),
            median(&values(|run| run.others)),
        );
        let mark = if others < QUIET { "" } else { " !" };
        let only_if = |shown: bool, text: String| if shown { text } else { String::new() };
        let ratio = |text| only_if(!is_tokio, text);
        table.add_row([
            only_if(is_tokio, program.title()).into(),
            side.name().into(),
            number(spread(&operations, digits)),
            number(ratio(spread(&throughput, 2) + verdict)),
            number(spread(&values(|run| run.cpu_micros), 3)),
            number(ratio(spread(&cpu, 2))),
            number(only_if(is_tree, format!("{timers:.2}"))),
            number(only_if(
                program.has_two_workers(),
                spread(&values(|run| run.transfer), 0),
            )),
            number(format!("{others:.2}{mark}")),
        ]);
    }
}
