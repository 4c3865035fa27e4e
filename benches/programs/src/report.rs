//! The tables: a row per program, and a column per side.

use common::conditions::QUIET;
use common::median;
use common::table::{Spread, Table, factor, markdown, number, rate, time};

use crate::program::Program;
use crate::rounds::Run;
use crate::side::{ALL, Side};

/// A program, and its runs on each side.
type Row<'a> = (&'a Program, Vec<(Side, Vec<Run>)>);

/// Prints a table for each measured value. A ratio is the median of the rounds' ratios.
pub(crate) fn print(rows: &[Row<'_>]) {
    let mut shown = ALL.to_vec();
    shown.retain(|side| {
        rows.iter()
            .any(|(_, sides)| sides.iter().any(|(one, _)| one == side))
    });
    let names = shown.iter().map(|side| side.name());
    let table = |what| markdown([what, "timers in"].into_iter().chain(names.clone()));
    let mut spread = Spread::default();
    let mut rates = table("operations per second, and ÷ tokio's");
    let mut costs = table("CPU time per operation, and ÷ tokio's");
    let mut tails = table("99th percentile of an operation");
    for row in rows {
        add(
            &mut rates,
            row,
            &shown,
            |run| run.rate,
            rate,
            Some(&mut spread),
        );
        add(
            &mut costs,
            row,
            &shown,
            |run| run.cpu,
            time,
            Some(&mut spread),
        );
        add(&mut tails, row, &shown, |run| run.p99, time, None);
    }
    println!("{rates}\n\n{costs}\n\n{tails}\n\n{spread}");
}

/// Adds a row. Its other cells are ratios if their spread is wanted.
fn add(
    table: &mut Table,
    (program, sides): &Row<'_>,
    shown: &[Side],
    value: fn(&Run) -> f64,
    show: fn(f64) -> String,
    mut spread: Option<&mut Spread>,
) {
    let values = |runs: &[Run]| runs.iter().map(value).collect::<Vec<_>>();
    let tokio = values(&sides[0].1);
    let mut cell = |side: &Side| {
        let Some((_, runs)) = sides.iter().find(|(one, _)| one == side) else {
            return "–".to_owned();
        };
        let others = median(&runs.iter().map(|run| run.others).collect::<Vec<_>>());
        let mark = if others < QUIET { "" } else { " !" };
        let text = match &mut spread {
            Some(spread) if *side != Side::Tokio => {
                let rounds = values(runs).into_iter().zip(&tokio);
                let ratios: Vec<_> = rounds.map(|(value, tokio)| value / tokio).collect();
                factor(spread.add(program.name, &ratios))
            }
            _ => show(median(&values(runs))),
        };
        text + mark
    };
    let cells = shown.iter().map(|side| number(cell(side)));
    let names = [program.name.into(), program.place().into()];
    table.add_row(names.into_iter().chain(cells));
}
