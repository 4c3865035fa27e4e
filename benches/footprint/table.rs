//! The table in the tree: what the counts were when they were last accepted.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use common::table::{Cell, markdown, number};

use crate::plan::{Operation, Row, Rows};

/// The counts, and the versions that they depend on.
#[derive(Debug)]
pub(crate) struct Table {
    /// The compiler's and tokio's.
    pub(crate) versions: String,
    pub(crate) rows: Rows,
}

pub(crate) const HEADER: [&str; 8] = [
    "runtime",
    "operation",
    "tokio: instructions",
    "code lines",
    "data lines",
    "wheel: instructions",
    "code lines",
    "data lines",
];

const ABOUT: &str = "Per operation, less the same run without a timer. Printed by `cargo bench -p footprint -- --accept`.";

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("table.md")
}

impl Table {
    pub(crate) fn read() -> Result<Self> {
        let path = path();
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let versions = text.lines().find_map(|line| line.strip_prefix("With "));
        let lines = text.lines().filter(|line| line.starts_with("| ")).skip(1);
        let rows = lines.map(|line| read_row(line).with_context(|| line.to_owned()));
        Ok(Self {
            versions: versions
                .context("no versions")?
                .trim_end_matches('.')
                .to_owned(),
            rows: rows.collect::<Result<_>>()?,
        })
    }

    pub(crate) fn write(&self) -> Result<()> {
        let table = print(&self.rows);
        let text = format!("{ABOUT}\nWith {}.\n\n{table}\n", self.versions);
        Ok(fs::write(path(), text)?)
    }
}

/// The counts as Markdown.
pub(crate) fn print(rows: &Rows) -> String {
    let mut table = markdown(HEADER);
    for (operation, row) in rows {
        let names = operation.names().map(Cell::new);
        let counts = row.map(|count| number(format!("{count:.1}")));
        table.add_row(names.into_iter().chain(counts));
    }
    table.to_string()
}

fn read_row(line: &str) -> Result<(Operation, Row)> {
    let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
    let (names, counts) = cells.split_at_checked(2).context("too few cells")?;
    let mut all = Operation::all(&[]).into_iter();
    let operation = all.find(|operation| operation.names() == names);
    let counts: Result<Vec<f64>, _> = counts.iter().map(|cell| cell.parse()).collect();
    let row = counts?.try_into().ok().context("another number of cells")?;
    Ok((operation.context("no such operation")?, row))
}
