//! A table with a row for each figure and a column for each run.

use std::fmt::{self, Display};

use comfy_table::{Cell, CellAlignment, Table, presets::UTF8_FULL_CONDENSED};

/// A table that is being filled.
#[derive(Debug)]
pub struct Columns<'a, R> {
    runs: Vec<&'a R>,
    table: Table,
}

impl<'a, R> Columns<'a, R> {
    /// A column for each of `runs`, under its name.
    pub fn new(runs: impl IntoIterator<Item = (&'a str, &'a R)>) -> Self {
        let (names, runs): (Vec<_>, Vec<_>) = runs.into_iter().unzip();
        let mut table = Table::new();
        table
            .load_preset(UTF8_FULL_CONDENSED)
            .set_header(cells("", names));
        Self { runs, table }
    }

    /// `cell` says what stands in a run's column.
    pub fn row(&mut self, label: impl Display, cell: impl Fn(&R) -> String) {
        let figures = self.runs.iter().map(|run| cell(run));
        self.table.add_row(cells(label, figures));
    }
}

fn cells<T: Display>(label: impl Display, columns: impl IntoIterator<Item = T>) -> Vec<Cell> {
    let right = |text| Cell::new(text).set_alignment(CellAlignment::Right);
    [Cell::new(label)]
        .into_iter()
        .chain(columns.into_iter().map(right))
        .collect()
}

impl<R> Display for Columns<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.table.fmt(f)
    }
}
