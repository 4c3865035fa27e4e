//! Tables in Markdown, and how their numbers are written.

use std::fmt::{self, Display, Formatter};

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
pub fn factor(ratio: f64) -> String {
    let digits = if ratio < 10.0 { 2 } else { 1 };
    format!("{ratio:.digits$}")
}

/// How far the rounds' ratios are from their medians.
#[derive(Debug, Default)]
pub struct Spread(Vec<(f64, String)>);

impl Spread {
    /// Adds the ratios of a cell, and returns their median.
    pub fn add(&mut self, name: &str, ratios: &[f64]) -> f64 {
        let (median, (least, most)) = (median(ratios), range(ratios));
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
            "Spread: the rounds of half of the ratios are within {:.0} % of their median, and those of all within {most:.0} % ({name}).",
            median(&away)
        )
    }
}

/// Creates a cell that is aligned to the right.
pub fn number(text: impl ToString) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}
