//! Tables: for the terminal, with a row per result and a column per run, and as Markdown.

use comfy_table::presets::{ASCII_MARKDOWN, UTF8_FULL_CONDENSED};
use comfy_table::{CellAlignment, Row};

use crate::{median, range};

pub use comfy_table::{Cell, Table};

/// Creates a table for the terminal, with a column for each name.
pub fn terminal<'a>(names: impl IntoIterator<Item = &'a str>) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED);
    table.set_header(row("", names));
    table
}

/// Creates a row: its label, and a cell for each column.
pub fn row<T: ToString>(label: impl ToString, columns: impl IntoIterator<Item = T>) -> Vec<Cell> {
    let label = [Cell::new(label)].into_iter();
    label.chain(columns.into_iter().map(number)).collect()
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
