//! Tables in Markdown, and how their numbers are written.

use std::iter::zip;

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{CellAlignment, Row};

use crate::{median, range, thousands};

pub use comfy_table::{Cell, Table};

/// How many rounds a value needs to be bold.
const ROUNDS: usize = 3;

/// By which factor it must be better, because at a fixed rate all values are nearly equal.
const MARGIN: f64 = 1.005;

/// What a [cell](Unit::cells) means. Print this below a table of them.
pub const LEGEND: &str = "Median of the rounds (lowest–highest).";

const BOLD: &str = " **Bold**: the worst of three rounds or more is better than the best of each other implementation.";

/// Explains bold values, if these tables have one.
pub fn about_bold(tables: &str) -> &'static str {
    if tables.contains("**") { BOLD } else { "" }
}

/// Creates an empty Markdown table.
pub fn markdown(header: impl Into<Row>) -> Table {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN).set_header(header);
    table
}

/// Returns the title of an implementation's column.
pub fn title(name: &str) -> &str {
    if name == "tokio" { "Tokio" } else { name }
}

/// Creates a cell that is aligned to the right.
pub fn number(text: impl ToString) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

/// What is measured. More operations per second are better, and less of everything else.
#[derive(Clone, Copy, Debug)]
pub enum Unit {
    /// A time, in nanoseconds.
    Nanos,
    /// Memory.
    Bytes,
    /// Operations per second.
    PerSecond,
}

impl Unit {
    /// Formats a cell for each implementation.
    pub fn cells(self, sides: &[Vec<f64>]) -> impl Iterator<Item = String> {
        (0..sides.len()).map(move |at| self.cell(sides, at))
    }

    /// Formats the rounds of the implementation `at`: their median, and the lowest and the highest in the median's unit.
    fn cell(self, sides: &[Vec<f64>], at: usize) -> String {
        let (scale, _) = self.scale(median(&sides[at]));
        bold(self.value(&sides[at]), self.is_best(sides, at)) + &between(&sides[at], scale)
    }

    /// Formats the median of its rounds, and how many times Tokio's they are. Tokio is the first. These multiples
    /// are compared, not the values.
    pub fn cell_with_ratio(self, sides: &[Vec<f64>], at: usize) -> String {
        let value = self.value(&sides[at]);
        let multiples: Vec<_> = sides
            .iter()
            .map(|side| multiples(side, &sides[0]))
            .collect();
        let is_best = self.is_best(&multiples, at);
        if at == 0 {
            return bold(value, is_best);
        }
        format!("{value}, {}", ratios(&sides[at], &sides[0], is_best))
    }

    /// Formats the median.
    fn value(self, rounds: &[f64]) -> String {
        let median = median(rounds);
        let (scale, name) = self.scale(median);
        digits(median / scale) + name
    }

    /// Returns the largest unit in which the value is not below 1, and its name.
    fn scale(self, value: f64) -> (f64, &'static str) {
        let [large, middle, small] = match self {
            Unit::Nanos => [" ms", " µs", " ns"],
            Unit::Bytes => [" MB", " kB", " B"],
            Unit::PerSecond => [" M/s", " k/s", " /s"],
        };
        match value {
            999_500.0.. => (1e6, large),
            999.5.. => (1e3, middle),
            _ => (1.0, small),
        }
    }

    /// Whether the worst of an implementation's rounds is better than every round of the others.
    fn is_best(self, sides: &[Vec<f64>], at: usize) -> bool {
        let (least, most) = range(&sides[at]);
        let is_better = |other: &Vec<f64>| match self {
            Unit::PerSecond => least > MARGIN * range(other).1,
            _ => MARGIN * most < range(other).0,
        };
        let mut others = sides.iter().enumerate().filter(|&(other, _)| other != at);
        sides.len() > 1 && sides[at].len() >= ROUNDS && others.all(|(_, other)| is_better(other))
    }
}

/// Formats how many times Tokio's the rounds are: the median, and the lowest and the highest of a round.
pub fn ratios(rounds: &[f64], tokio: &[f64], is_bold: bool) -> String {
    let ratios = multiples(rounds, tokio);
    bold(format!("{} ×", digits(median(&ratios))), is_bold) + &between(&ratios, 1.0)
}

fn multiples(rounds: &[f64], tokio: &[f64]) -> Vec<f64> {
    zip(rounds, tokio)
        .map(|(round, tokio)| round / tokio)
        .collect()
}

fn bold(text: String, is_bold: bool) -> String {
    if is_bold { format!("**{text}**") } else { text }
}

/// Formats the lowest and the highest, or nothing if they do not differ.
fn between(rounds: &[f64], scale: f64) -> String {
    let (least, most) = range(rounds);
    let (least, most) = (digits(least / scale), digits(most / scale));
    match least == most {
        true => String::new(),
        false => format!(" ({least}–{most})"),
    }
}

/// Formats a number with at most three significant digits.
fn digits(value: f64) -> String {
    match value {
        ..=0.0 => "0".to_owned(),
        ..0.001 => "under 0.001".to_owned(),
        999.5.. => {
            let last = 10_f64.powf(value.log10().floor() - 2.0);
            thousands(((value / last).round() * last) as u64)
        }
        99.95.. => format!("{value:.0}"),
        9.995.. => format!("{value:.1}"),
        0.0995.. => format!("{value:.2}"),
        0.001.. => format!("{value:.3}"),
        _ => "–".to_owned(),
    }
}
