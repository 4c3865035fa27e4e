//! The table in the repository: the counts when they were last accepted, and the comparison with new counts.

use std::fs;

use anyhow::{Context as _, Error, Result, bail};
use clap::ValueEnum as _;
use common::println;
use common::table::{Cell, Table as Markdown, markdown, number};
use common::word;

use crate::plan::{Row, Rows, Runtime, Shape};
use crate::simulate::Build;

/// The counts, and the versions that they depend on.
#[derive(Debug)]
pub(crate) struct Table {
    /// The compiler's and Tokio's.
    pub(crate) versions: String,
    pub(crate) rows: Rows,
}

/// What is counted, in the order of a [`Row`].
const COUNTED: [&str; 3] = ["instructions", "code lines", "data lines"];

/// No line may begin with `With ` or `| `, which `read` looks for.
const ABOUT: &str = "\
# What an operation of a timer executes and touches

`cargo bench -p footprint -- --accept` counted this, and [subtracted](../RESULTS.md#footprint) the same run without a timer.";

/// The heading of a build's table, and how to read it.
fn heading(build: Build) -> (&'static str, &'static str) {
    match build {
        Build::Release => (
            "## In the build of `cargo build --release`",
            "A cell has Tokio's count → tokio-wheel's. Below 1.00 in `÷ Tokio`, tokio-wheel executes fewer instructions. *Code lines*
are cache lines of 64 bytes that are executed, and *data lines* those that are read or written.",
        ),
        Build::Lto => (
            "## In a build with link-time optimisation",
            "The cells are as in the first table. This build also has only one codegen unit.",
        ),
    }
}

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
        let (mut build, mut rows) = (Build::Release, Rows::new());
        for line in text.lines() {
            let mut builds = Build::value_variants().iter().copied();
            build = builds.find(|one| heading(*one).0 == line).unwrap_or(build);
            if line.starts_with("| `") {
                let (runtime, shape, row) = read_row(line).with_context(|| line.to_owned())?;
                rows.insert((build, runtime, shape), row);
            }
        }
        Ok(Self {
            versions: versions.to_owned(),
            rows,
        })
    }

    pub(crate) fn write(&self) -> Result<()> {
        let (versions, tables) = (&self.versions, self.print());
        let text = format!("{ABOUT}\nWith {versions}.\n\n{tables}\n");
        Ok(fs::write(PATH, text)?)
    }

    /// The counts as Markdown, with a table for each build.
    pub(crate) fn print(&self) -> String {
        let print = |&build| {
            let (title, about) = heading(build);
            format!("{title}\n\n{about}\n\n{}", self.of(build))
        };
        let tables = Build::value_variants().iter().map(print);
        tables.collect::<Vec<_>>().join("\n\n")
    }

    fn of(&self, build: Build) -> Markdown {
        let [instructions, code, data] = COUNTED;
        let mut table = markdown(["operation", "runtime", instructions, "÷ Tokio", code, data]);
        for ((_, runtime, shape), row) in self.rows.iter().filter(|((one, ..), _)| *one == build) {
            let both = |at: usize| format!("{:.1} → {:.1}", row[at], row[at + 3]);
            let ratio = format!("{:.2}", row[3] / row[0]);
            let counts = [both(0), ratio, both(1), both(2)].map(number);
            let labels = [shape.heading(), word(runtime)].map(Cell::new);
            table.add_row(labels.into_iter().chain(counts));
        }
        table
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
                let what = COUNTED[index - 3];
                let percent = (now / then - 1.0) * 100.0;
                println!(
                    "{verdict}: {shape}, {runtime}, {build}: {what} {then:.1} → {now:.1} ({percent:+.1} %)"
                );
            }
        }
        is_more
    }
}

fn read_row(line: &str) -> Result<(Runtime, Shape, Row)> {
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let [_, shape, runtime, instructions, _, code, data, _] = cells.as_slice() else {
        bail!("another number of cells");
    };
    let shape = shape.split('`').nth(1).context("no operation")?;
    let shape = Shape::from_str(shape, false).map_err(Error::msg)?;
    let runtime = Runtime::from_str(runtime, false).map_err(Error::msg)?;
    let mut row = Row::default();
    for (at, cell) in [instructions, code, data].into_iter().enumerate() {
        let (tokio, wheel) = cell.split_once(" → ").context("no two counts")?;
        (row[at], row[at + 3]) = (tokio.parse()?, wheel.parse()?);
    }
    Ok((runtime, shape, row))
}
