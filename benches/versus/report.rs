//! Prints the results of all benchmarks as a table.

use std::iter::zip;

use common::median;
use common::table::{Spread, Table, factor, markdown, number, time};

use crate::benchmark::{Benchmark, Measured, Unit};

/// Returns a table with a row for each value, a column for each implementation, and Tokio's result divided by each of the
/// others. `results` has what each implementation of a benchmark measured, round by round.
pub(crate) fn table(results: &[(&Benchmark, Vec<Vec<Measured>>)], mark: &str) -> (Table, Spread) {
    let mut names = Vec::new();
    for (name, _) in results.iter().flat_map(|(one, _)| &one.implementations) {
        if !names.contains(name) {
            names.push(*name);
        }
    }
    let (mut table, mut spread) = (
        markdown(["benchmark", "value"].into_iter().chain(names.clone())),
        Spread::default(),
    );
    for (benchmark, measured) in results {
        for (index, value) in measured[0][0].values.iter().enumerate() {
            let amounts = |at: usize| {
                let rounds = measured[at].iter();
                rounds.map(move |round| round.values[index].amount)
            };
            let mut cell = |name: &str| {
                let mut implementations = benchmark.implementations.iter();
                let Some(at) = implementations.position(|(one, _)| *one == name) else {
                    return String::new();
                };
                let median = median(&amounts(at).collect::<Vec<_>>());
                let ratios: Vec<_> = zip(amounts(0), amounts(at))
                    .map(|(tokio, one)| tokio / one)
                    .collect();
                let ratio = match at {
                    0 => String::new(),
                    _ => format!(" ({})", factor(spread.add(benchmark.name, &ratios))),
                };
                amount(median, value.unit) + &ratio + mark
            };
            let cells: Vec<_> = names.iter().map(|name| number(cell(name))).collect();
            let labels = [benchmark.name, &value.what].map(|label| label.into());
            table.add_row(labels.into_iter().chain(cells));
        }
    }
    (table, spread)
}

fn amount(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Nanos => time(value),
        Unit::Bytes if value >= 1e6 => format!("{:.1} MB", value / 1e6),
        Unit::Bytes => format!("{value:.0} B"),
    }
}
