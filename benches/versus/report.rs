//! Prints the results of all benchmarks as tables.

use common::table::{Table, markdown, number};

use crate::benchmark::{Benchmark, Measured};

/// A benchmark, and what each implementation measured, round by round.
pub(crate) type Outcome<'a> = (&'a Benchmark, Vec<Vec<Measured>>);

/// A table has at most this many columns of implementations; if there are more, they are rows.
const COLUMNS: usize = 5;

/// Formats a table for successive benchmarks of the same implementations.
pub(crate) fn tables(outcomes: &[Outcome<'_>], mark: &str) -> String {
    let groups = outcomes.chunk_by(|(one, _), (next, _)| {
        one.names().eq(next.names()) && one.implementations.len() <= COLUMNS
    });
    let table = |group: &[Outcome<'_>]| match group {
        [(one, measured)] if one.implementations.len() > COLUMNS => by_row(one, measured, mark),
        _ => by_column(group, mark),
    };
    let tables = groups.map(|group| table(group).to_string());
    tables.collect::<Vec<_>>().join("\n\n")
}

/// A row for each value, and a column for each implementation.
fn by_column(outcomes: &[Outcome<'_>], mark: &str) -> Table {
    let names = outcomes[0].0.names();
    let mut table = markdown(["benchmark", "measured"].into_iter().chain(names));
    for (benchmark, measured) in outcomes {
        let mut benchmark = benchmark.heading();
        for (what, cells) in values(measured) {
            let cells = cells.into_iter().map(|cell| number(cell + mark));
            table.add_row([benchmark.into(), what.into()].into_iter().chain(cells));
            benchmark = String::new();
        }
    }
    table
}

/// A row for each implementation, and a column for each value.
fn by_row(benchmark: &Benchmark, measured: &[Vec<Measured>], mark: &str) -> Table {
    let values = values(measured);
    let names = values.iter().map(|(what, _)| what.clone());
    let mut table = markdown([benchmark.heading()].into_iter().chain(names));
    for (at, name) in benchmark.names().enumerate() {
        let cells = values
            .iter()
            .map(|(_, cells)| number(format!("{}{mark}", cells[at])));
        table.add_row([name.into()].into_iter().chain(cells));
    }
    table
}

/// Returns the name of each value, and a cell for each implementation.
fn values(measured: &[Vec<Measured>]) -> Vec<(String, Vec<String>)> {
    let values = measured[0][0].values.iter().enumerate();
    let values = values.map(|(index, value)| {
        let amounts = |rounds: &Vec<Measured>| -> Vec<f64> {
            let rounds = rounds.iter();
            rounds.map(|round| round.values[index].amount).collect()
        };
        let sides: Vec<_> = measured.iter().map(amounts).collect();
        (value.what.clone(), value.unit.cells(&sides).collect())
    });
    values.collect()
}
