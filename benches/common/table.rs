//! Tables in Markdown, and how their numbers are written.

use std::fmt::{self, Display, Formatter};
use std::iter::zip;

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{CellAlignment, Row};

use crate::{median, range, thousands};

pub use comfy_table::{Cell, Table};

/// Creates an empty Markdown table.
pub fn markdown(header: impl Into<Row>) -> Table {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN).set_header(header);
    table
}

/// Formats a number of operations per second.
pub fn rate(per_second: f64) -> String {
    match per_second {
        1e6.. => format!("{:.2} M/s", per_second / 1e6),
        1e4.. => format!("{:.3} M/s", per_second / 1e6),
        _ => format!("{per_second:.1} /s"),
    }
}

/// Formats nanoseconds.
pub fn time(nanos: f64) -> String {
    match nanos {
        1e6.. => thousands((nanos / 1e3) as u64) + " µs",
        1e5.. => format!("{:.0} µs", nanos / 1e3),
        1e4.. => format!("{:.1} µs", nanos / 1e3),
        10.0.. => thousands(nanos.round() as u64) + " ns",
        0.0.. => format!("{nanos:.1} ns"),
        _ => "–".to_owned(),
    }
}

/// Formats a ratio.
fn factor(ratio: f64) -> String {
    let digits = match ratio {
        10.0.. => 1,
        0.1.. => 2,
        0.01.. => 3,
        _ => 5,
    };
    format!("{ratio:.digits$}")
}

/// The rounds' results divided by Tokio's: their median, and their range.
#[derive(Debug)]
pub struct Ratios(Vec<f64>);

impl Ratios {
    /// Divides each round's result by Tokio's of the same round.
    pub fn new(results: &[f64], tokio: &[f64]) -> Self {
        let rounds = zip(results, tokio);
        Self(rounds.map(|(result, tokio)| result / tokio).collect())
    }

    /// Formats the lowest and the highest, or only one if they do not differ.
    pub fn range(&self) -> String {
        let (least, most) = range(&self.0);
        let (least, most) = (factor(least), factor(most));
        match least == most {
            true => format!("({least})"),
            false => format!("({least}–{most})"),
        }
    }
}

/// Formats the median and the range.
impl Display for Ratios {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", factor(median(&self.0)), self.range())
    }
}

/// How far the rounds' results are from their medians.
#[derive(Debug, Default)]
pub struct Spread(Vec<(f64, String)>);

impl Spread {
    /// Adds the results of a cell, and returns their median.
    pub fn add(&mut self, name: &str, results: &[f64]) -> f64 {
        let (median, (least, most)) = (median(results), range(results));
        let away = (most / median).max(median / least) - 1.0;
        self.0.push((100.0 * away, name.to_owned()));
        median
    }
}

impl Display for Spread {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let away: Vec<_> = self.0.iter().map(|(away, _)| *away).collect();
        let Some((most, name)) = self.0.iter().max_by(|one, other| one.0.total_cmp(&other.0))
        else {
            return Ok(());
        };
        write!(
            f,
            "Spread: the rounds of half of the results are within {:.0} % of their median, and those of all within {most:.0} % ({name}).",
            median(&away)
        )
    }
}

/// Creates a cell that is aligned to the right.
pub fn number(text: impl ToString) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}
