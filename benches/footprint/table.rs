//! The table in the tree: what the counts were when they were last accepted.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use common::table::{markdown, number};

use crate::plan::{Operation, Row, Rows};
use crate::trace::Counts;

/// The counts, and the versions that they depend on.
#[derive(Debug)]
pub(crate) struct Table {
    /// The compiler's and tokio's.
    pub(crate) versions: String,
    pub(crate) rows: Rows,
}

const HEADER: [&str; 8] = [
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
        let mut rows = Rows::new();
        for line in text.lines().filter(|line| line.starts_with("| ")).skip(1) {
            let (operation, row) = read_row(line).with_context(|| line.to_owned())?;
            rows.insert(operation, row);
        }
        Ok(Self {
            versions: versions
                .context("no versions")?
                .trim_end_matches('.')
                .to_owned(),
            rows,
        })
    }

    pub(crate) fn write(&self) -> Result<()> {
        let text = format!(
            "{ABOUT}\nWith {}.\n\n{}\n",
            self.versions,
            print(&self.rows)
        );
        Ok(fs::write(path(), text)?)
    }
}

/// The counts as Markdown.
pub(crate) fn print(rows: &Rows) -> String {
    let mut table = markdown(HEADER);
    for (operation, row) in rows {
        let names = [operation.runtime(), operation.shape()].map(common::table::Cell::new);
        let counts = row.tokio.each().into_iter().chain(row.wheel.each());
        let counts = counts.map(|count| number(format!("{count:.1}")));
        table.add_row(names.into_iter().chain(counts));
    }
    table.to_string()
}

fn read_row(line: &str) -> Result<(Operation, Row)> {
    let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
    ensure!(
        cells.len() == HEADER.len(),
        "not as many cells as the header has"
    );
    let all = Operation::all(&[]);
    let named = |operation: &Operation| [operation.runtime(), operation.shape()] == cells[..2];
    let operation = all.into_iter().find(named).context("no such operation")?;
    let counts = |from: usize| -> Result<Counts> {
        Ok(Counts {
            instructions: cells[from].parse()?,
            code: cells[from + 1].parse()?,
            data: cells[from + 2].parse()?,
        })
    };
    let row = Row {
        tokio: counts(2)?,
        wheel: counts(5)?,
    };
    Ok((operation, row))
}
