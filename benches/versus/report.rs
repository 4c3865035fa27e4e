//! Prints the results of all benchmarks as a table.

use common::median;
use common::table::{Ratios, Table, markdown, number, time};

use crate::benchmark::{Benchmark, Measured, Unit};

/// Returns a table with a row for each value, a column for each implementation, and each result divided by Tokio's.
/// `results` has what each implementation of a benchmark measured, round by round.
pub(crate) fn table(results: &[(&Benchmark, Vec<Vec<Measured>>)], mark: &str) -> Table {
    let mut names = Vec::new();
    for (name, _) in results.iter().flat_map(|(one, _)| &one.implementations) {
        if !names.contains(name) {
            names.push(*name);
        }
    }
    let mut table = markdown(["benchmark", "value"].into_iter().chain(names.clone()));
    for (benchmark, measured) in results {
        for (index, value) in measured[0][0].values.iter().enumerate() {
            let amounts = |at: usize| -> Vec<f64> {
                let rounds = measured[at].iter();
                rounds.map(|round| round.values[index].amount).collect()
            };
            let cell = |name: &str| {
                let mut implementations = benchmark.implementations.iter();
                let Some(at) = implementations.position(|(one, _)| *one == name) else {
                    return String::new();
                };
                let rounds = amounts(at);
                let ratios = match at {
                    0 => String::new(),
                    _ => format!(" {}", Ratios::new(&rounds, &amounts(0)).range()),
                };
                amount(median(&rounds), value.unit) + &ratios + mark
            };
            let cells: Vec<_> = names.iter().map(|name| number(cell(name))).collect();
            let labels = [benchmark.name, &value.what].map(|label| label.into());
            table.add_row(labels.into_iter().chain(cells));
        }
    }
    table
}

fn amount(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Nanos => time(value),
        Unit::Bytes if value >= 1e6 => format!("{:.1} MB", value / 1e6),
        Unit::Bytes => format!("{value:.0} B"),
    }
}
