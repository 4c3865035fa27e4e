//! The table in the repository: the counts when they were last accepted, and the comparison with new counts.

use std::fs;

use anyhow::{Context as _, Error, Result, bail};
use clap::ValueEnum as _;
use common::println;
use common::table::{Cell, markdown, number};
use common::word;

use crate::plan::{Operation, Row, Rows, Runtime, Shape};
use crate::simulate::Build;

/// The counts, and the versions that they depend on.
#[derive(Debug)]
pub(crate) struct Table {
    /// The compiler's and Tokio's.
    pub(crate) versions: String,
    pub(crate) rows: Rows,
}

const HEADER: [&str; 9] = [
    "build",
    "runtime",
    "operation",
    "tokio: instructions",
    "code lines",
    "data lines",
    "wheel: instructions",
    "code lines",
    "data lines",
];

/// No line may begin with `With ` or `| `, which `read` looks for.
const ABOUT: &str = "Counts of [operations](../RESULTS.md#footprint), less the same run without a timer, by `cargo bench -p footprint -- --accept`.
*Code lines* are cache lines of 64 bytes that are executed, and *data lines* those that are read or written.";

/// The factors by which instructions, code lines and data lines may rise. Where the linker and the allocator put data differs
/// between folders and machines, which changes the data lines of `alone` by 6 %.
const MOST: [f64; 3] = [1.03, 1.03, 1.1];

/// By how much a small count may rise: the addresses of the heap and the stacks change the count by up to two lines.
const SLACK: f64 = 2.5;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/table.md");

impl Table {
    pub(crate) fn read() -> Result<Self> {
        let text = fs::read_to_string(PATH).context("table.md")?;
        let versions = text.lines().find_map(|line| line.strip_prefix("With "));
        let versions = versions.context("no versions")?.trim_end_matches('.');
        let lines = text.lines().filter(|line| line.starts_with("| ")).skip(1);
        let rows = lines.map(|line| read_row(line).with_context(|| line.to_owned()));
        Ok(Self {
            versions: versions.to_owned(),
            rows: rows.collect::<Result<_>>()?,
        })
    }

    pub(crate) fn write(&self) -> Result<()> {
        let (versions, table) = (&self.versions, self.print());
        let text = format!("{ABOUT}\nWith {versions}.\n\n{table}\n");
        Ok(fs::write(PATH, text)?)
    }

    /// The counts as Markdown.
    pub(crate) fn print(&self) -> String {
        let mut table = markdown(HEADER);
        for ((build, runtime, shape), row) in &self.rows {
            let names = [word(build), word(runtime), word(shape)].map(Cell::new);
            let counts = row.map(|count| number(format!("{count:.1}")));
            table.add_row(names.into_iter().chain(counts));
        }
        table.to_string()
    }

    /// Prints which operations of both tables differ by more than they may, in tokio-wheel's counts. Returns whether
    /// one has risen.
    pub(crate) fn is_more_than(&self, before: &Table) -> bool {
        let mut is_more = false;
        for (operation, now) in &self.rows {
            let Some(then) = before.rows.get(operation) else {
                continue;
            };
            for index in 3..6 {
                let (then, now) = (then[index], now[index]);
                let (less, more) = (then.min(now), then.max(now));
                if more <= (less * MOST[index - 3]).max(less + SLACK) {
                    continue;
                }
                is_more |= now > then;
                let verdict = if now > then { "MORE" } else { "less" };
                let (build, runtime, shape) = operation;
                let (build, runtime, shape) = (word(build), word(runtime), word(shape));
                let what = HEADER[3 + index];
                let percent = (now / then - 1.0) * 100.0;
                println!(
                    "{verdict}: {shape}, {runtime}, {build}: {what} {then:.1} → {now:.1} ({percent:+.1} %)"
                );
            }
        }
        is_more
    }
}

fn read_row(line: &str) -> Result<(Operation, Row)> {
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let [_, build, runtime, shape, counts @ .., _] = cells.as_slice() else {
        bail!("too few cells");
    };
    let build = Build::from_str(build, false).map_err(Error::msg)?;
    let runtime = Runtime::from_str(runtime, false).map_err(Error::msg)?;
    let shape = Shape::from_str(shape, false).map_err(Error::msg)?;
    let counts: Result<Vec<f64>, _> = counts.iter().map(|cell| cell.parse()).collect();
    let row = counts?.try_into().ok().context("another number of cells")?;
    Ok(((build, runtime, shape), row))
}
