//! Tables: for the terminal, with a row per result and a column per run, and as Markdown.

use std::fmt::{self, Display};

use comfy_table::presets::{ASCII_MARKDOWN, UTF8_FULL_CONDENSED};
use comfy_table::{CellAlignment, Row};

use crate::{median, range};

pub use comfy_table::{Cell, Table};

/// A table for the terminal.
#[derive(Debug)]
pub struct Columns<'a, R> {
    runs: Vec<&'a R>,
    table: Table,
}

impl<'a, R> Columns<'a, R> {
    /// Creates a table with a column for each run, under its name.
    pub fn new(runs: impl IntoIterator<Item = (&'a str, &'a R)>) -> Self {
        let (names, runs): (Vec<_>, Vec<_>) = runs.into_iter().unzip();
        let mut table = Table::new();
        table
            .load_style(UTF8_FULL_CONDENSED)
            .set_header(cells("", names));
        Self { runs, table }
    }

    /// Adds a row. `cell` returns the text for a run's column.
    pub fn row(&mut self, label: impl Display, cell: impl Fn(&R) -> String) {
        let figures = self.runs.iter().map(|run| cell(run));
        self.table.add_row(cells(label, figures));
    }
}

/// Creates an empty Markdown table.
pub fn markdown(header: impl Into<Row>) -> Table {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN).set_header(header);
    table
}

/// Formats the median, with the minimum and the maximum.
pub fn spread(values: &[f64], digits: usize) -> String {
    let (least, most) = range(values);
    format!(
        "{:.digits$} ({least:.digits$}–{most:.digits$})",
        median(values)
    )
}

/// Creates a cell that is aligned to the right.
pub fn number(text: impl ToString) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

fn cells<T: Display>(label: impl Display, columns: impl IntoIterator<Item = T>) -> Vec<Cell> {
    [Cell::new(label)]
        .into_iter()
        .chain(columns.into_iter().map(number))
        .collect()
}

impl<R> Display for Columns<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.table.fmt(f)
    }
}
