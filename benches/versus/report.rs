//! Prints the results of all benchmarks as a table.

use std::iter::zip;

use common::table::{Cell, Table, markdown, number};
use common::{median, range};

use crate::benchmark::{Benchmark, Measured, Unit};

/// One value of a benchmark, of tokio-wheel and of another implementation.
pub(crate) struct Row {
    benchmark: &'static str,
    what: String,
    unit: Unit,
    other: String,
    /// Medians: the other implementation's, and tokio-wheel's.
    medians: [f64; 2],
    /// The other value ÷ tokio-wheel's; above 1, tokio-wheel is better.
    ratio: f64,
    /// The minimum and the maximum of the rounds' ratios.
    range: (f64, f64),
}

impl Row {
    /// `measured` has what each implementation measured, round by round; the first is tokio-wheel.
    pub(crate) fn all(benchmark: &Benchmark, measured: &[Vec<Measured>]) -> Vec<Self> {
        let names = benchmark.implementations.iter().map(|(name, _)| *name);
        let names: Vec<_> = names.collect();
        let bare = names.iter().position(|name| *name == "bare");
        let mut rows = Vec::new();
        for (index, value) in measured[0][0].values.iter().enumerate() {
            let amounts = |at: usize| -> Vec<f64> {
                let rounds = measured[at].iter();
                rounds.map(|round| round.values[index].amount).collect()
            };
            let row = |other: usize, bare: Option<usize>| {
                let without = if bare.is_some() { ", without bare" } else { "" };
                let bare = bare.map(|bare| median(&amounts(bare)));
                let both = [amounts(other), amounts(0)];
                let (medians, ratios) = compare(both, bare);
                let ratio = match bare {
                    None => median(&ratios),
                    // The difference of a single round is too uncertain to divide by.
                    Some(_) => ratio(medians),
                };
                Self {
                    benchmark: benchmark.name,
                    what: value.what.clone(),
                    unit: value.unit,
                    other: format!("{}{without}", names[other]),
                    medians,
                    ratio,
                    range: range(&ratios),
                }
            };
            let others = 1..names.len();
            rows.extend(others.clone().map(|other| row(other, None)));
            let timers = others.filter(|other| bare.is_some_and(|bare| bare != *other));
            rows.extend(timers.map(|other| row(other, bare)));
        }
        rows
    }
}

/// Returns both medians, and each round's ratio, after subtracting the time of `bare`.
fn compare(both: [Vec<f64>; 2], bare: Option<f64>) -> ([f64; 2], Vec<f64>) {
    // A smaller difference cannot be distinguished from zero.
    const LEAST: f64 = 1.0;
    let less = |value: f64| bare.map_or(value, |bare| (value - bare).max(LEAST));
    let [other, wheel] = both.map(|values| values.into_iter().map(less).collect::<Vec<_>>());
    let ratios = zip(&other, &wheel).map(|(&other, &wheel)| ratio([other, wheel]));
    let ratios = ratios.collect();
    ([median(&other), median(&wheel)], ratios)
}

fn ratio([other, wheel]: [f64; 2]) -> f64 {
    if other == wheel { 1.0 } else { other / wheel }
}

pub(crate) fn table(rows: &[Row], mark: &str) -> Table {
    let header = [
        "benchmark",
        "value",
        "compared with",
        "its result",
        "tokio-wheel",
        "ratio",
        "range",
    ];
    let mut table = markdown(header);
    let mut last = "";
    for row in rows {
        let name = if row.benchmark == last {
            ""
        } else {
            row.benchmark
        };
        last = row.benchmark;
        let [other, wheel] = row.medians.map(|value| number(amount(value, row.unit)));
        let (least, most) = row.range;
        table.add_row([
            Cell::new(name),
            Cell::new(&row.what),
            Cell::new(&row.other),
            other,
            wheel,
            number(format!("{}{mark}", factor(row.ratio))),
            number(format!("{}–{}", factor(least), factor(most))),
        ]);
    }
    table
}

fn factor(value: f64) -> String {
    let decimals = if value < 10.0 { 2 } else { 1 };
    format!("{value:.decimals$}")
}

fn amount(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Nanos if value < 1e4 => format!("{value:.1} ns"),
        Unit::Nanos if value < 1e6 => format!("{:.1} µs", value / 1e3),
        Unit::Nanos => format!("{:.2} ms", value / 1e6),
        Unit::Bytes if value >= 1e6 => format!("{:.1} MB", value / 1e6),
        Unit::Bytes => format!("{value:.1} B"),
    }
}
