//! The table: a row per program, of the same name however many workers there are, and columns for the sides.

use common::conditions::mark;
use common::median;
use common::table::{Ratios, markdown, number, rate, time};

use crate::program::Program;
use crate::rounds::Run;
use crate::side::{ALL, Side};

const LEGEND: &str = "\
A value without a unit is the result divided by Tokio's, the median of the rounds' ratios, with the lowest and the highest
in parentheses; above 1 is better for operations per second, and below 1 for CPU, the CPU time per operation.
p99 is the 99th percentile of the time of an operation.";

/// A program, and its runs on each side.
type Row<'a> = (&'a Program, Vec<(Side, Vec<Run>)>);

/// Prints the table: operations per second on each side, the CPU time of an operation, and percentiles.
pub(crate) fn print(rows: &[Row<'_>]) {
    let mut shown = ALL.to_vec();
    shown.retain(|side| {
        rows.iter()
            .any(|(_, sides)| sides.iter().any(|(one, _)| one == side))
    });
    let named = |what| {
        shown
            .iter()
            .map(move |side| format!("{what}{}", side.name()))
    };
    let header = ["program", "operation"].map(str::to_owned).into_iter();
    let header = header.chain(named("")).chain(named("CPU, ").skip(1));
    let mut table = markdown(header.chain(named("p99, ")).collect::<Vec<_>>());
    for (program, sides) in rows {
        let tokio = &sides[0].1;
        let runs_on = |side| sides.iter().find(|(one, _)| *one == side);
        let cell = |side, show: &dyn Fn(&[Run]) -> String| {
            number(runs_on(side).map_or("–".to_owned(), |(_, runs)| {
                show(runs) + mark(middle(runs, |run| run.others))
            }))
        };
        let rates = shown.iter().map(|&side| match side {
            Side::Tokio => cell(side, &|runs| rate(middle(runs, |run| run.rate))),
            _ => cell(side, &|runs| ratios(runs, tokio, |run| run.rate)),
        });
        let costs = shown[1..].iter();
        let costs = costs.map(|&side| cell(side, &|runs| ratios(runs, tokio, |run| run.cpu)));
        let tails = shown
            .iter()
            .map(|&side| cell(side, &|runs| time(middle(runs, |run| run.p99))));
        let names = [program.name.into(), program.operation().into()];
        table.add_row(names.into_iter().chain(rates).chain(costs).chain(tails));
    }
    println!("{table}\n\n{LEGEND}");
}

fn values(runs: &[Run], value: fn(&Run) -> f64) -> Vec<f64> {
    runs.iter().map(value).collect()
}

fn middle(runs: &[Run], value: fn(&Run) -> f64) -> f64 {
    median(&values(runs, value))
}

/// Formats the median of the rounds' ratios, and their range.
fn ratios(runs: &[Run], tokio: &[Run], value: fn(&Run) -> f64) -> String {
    Ratios::new(&values(runs, value), &values(tokio, value)).to_string()
}
