//! The table: a row per program, of the same name however many workers there are, and columns for the sides.

use common::conditions::mark;
use common::table::{factor, markdown, number, rate, time};
use common::{median, range};

use crate::program::Program;
use crate::rounds::Run;
use crate::side::{ALL, Side};

const LEGEND: &str = "\
Operations per second on Tokio's timers, and ÷ tokio's; CPU time per operation, ÷ tokio's. In parentheses: the lowest and
the highest ratio of a round. p99 is the 99th percentile of the time of an operation.";

/// A program, and its runs on each side.
type Row<'a> = (&'a Program, Vec<(Side, Vec<Run>)>);

/// Prints the table: operations per second on each side, the CPU time of an operation on the last one, and percentiles.
pub(crate) fn print(rows: &[Row<'_>]) {
    let mut shown = ALL.to_vec();
    shown.retain(|side| {
        rows.iter()
            .any(|(_, sides)| sides.iter().any(|(one, _)| one == side))
    });
    let Some(&last) = shown.last() else {
        return;
    };
    let names = shown.iter().map(|side| side.name().to_owned());
    let tails = names.clone().map(|name| format!("p99, {name}"));
    let header = ["program", "operation"].map(str::to_owned).into_iter();
    let header = header.chain(names);
    let header = header.chain([format!("CPU, {}", last.name())]);
    let mut table = markdown(header.chain(tails).collect::<Vec<_>>());
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
            _ => cell(side, &|runs| ratio(runs, tokio, |run| run.rate)),
        });
        let cost = cell(last, &|runs| ratio(runs, tokio, |run| run.cpu));
        let tails = shown
            .iter()
            .map(|&side| cell(side, &|runs| time(middle(runs, |run| run.p99))));
        let names = [program.name.into(), program.operation().into()];
        table.add_row(names.into_iter().chain(rates).chain([cost]).chain(tails));
    }
    println!("{table}\n\n{LEGEND}");
}

fn middle(runs: &[Run], value: fn(&Run) -> f64) -> f64 {
    median(&runs.iter().map(value).collect::<Vec<_>>())
}

/// Formats the median of the rounds' ratios, and their range.
fn ratio(runs: &[Run], tokio: &[Run], value: fn(&Run) -> f64) -> String {
    let rounds = runs.iter().zip(tokio);
    let ratios: Vec<_> = rounds
        .map(|(run, tokio)| value(run) / value(tokio))
        .collect();
    let (least, most) = range(&ratios);
    let [median, least, most] = [median(&ratios), least, most].map(factor);
    format!("{median} ({least}–{most})")
}
