//! The table in the repository: the counts when they were last accepted, and the comparison with new counts.

use std::fs;
use std::iter::{once, zip};

use anyhow::{Context as _, Error, Result, ensure};
use clap::ValueEnum as _;
use common::table::{Cell, Table as Markdown, markdown, number};
use common::{println, word};

use crate::plan::{self, Row, Rows, Runtime, Shape};
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

/// Four [`cells`] for each runtime.
const HEADER: &str = "operation|multi-thread: instructions|÷ Tokio|code lines|data lines\
    |current-thread: instructions|÷ Tokio|code lines|data lines";

/// The heading of a build's table.
fn heading(build: Build) -> &'static str {
    match build {
        Build::Release => "## In the build of `cargo build --release`",
        Build::Lto => "## In a build with link-time optimisation and one codegen unit",
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
            build = builds.find(|one| heading(*one) == line).unwrap_or(build);
            if line.starts_with("| `") {
                let (shape, counts) = read_row(line).with_context(|| line.to_owned())?;
                let counts = zip(Runtime::value_variants(), counts);
                rows.extend(counts.map(|(&runtime, row)| ((build, runtime, shape), row)));
            }
        }
        let all = plan::operations(&[]);
        ensure!(rows.keys().eq(&all), "table.md lacks an operation");
        let versions = versions.to_owned();
        Ok(Self { versions, rows })
    }

    /// Replaces the versions and the tables. The text before them stays, so it has no figures, which would become wrong.
    pub(crate) fn write(&self) -> Result<()> {
        let text = fs::read_to_string(PATH)?;
        let (about, _) = text.split_once("\nWith ").context("no versions")?;
        let (versions, tables) = (&self.versions, self.print());
        let text = format!("{about}\nWith {versions}.\n\n{tables}\n");
        Ok(fs::write(PATH, text)?)
    }

    /// The counts as Markdown, with a table for each build.
    pub(crate) fn print(&self) -> String {
        let print = |&build| format!("{}\n\n{}", heading(build), self.of(build));
        let tables = Build::value_variants().iter().map(print);
        tables.collect::<Vec<_>>().join("\n\n")
    }

    fn of(&self, build: Build) -> Markdown {
        let mut table = markdown(HEADER.split('|'));
        for &shape in Shape::value_variants() {
            let runtimes = Runtime::value_variants().iter();
            let rows = runtimes.filter_map(|&runtime| self.rows.get(&(build, runtime, shape)));
            let counts: Vec<_> = rows.flat_map(cells).map(number).collect();
            if !counts.is_empty() {
                table.add_row(once(Cell::new(shape.heading())).chain(counts));
            }
        }
        table
    }

    /// Prints which operations of both tables differ by more than they may, in tokio-wheel's counts. Returns whether
    /// one has risen.
    pub(crate) fn is_more_than(&self, before: &Table) -> bool {
        let mut is_more = false;
        for (operation, now) in &self.rows {
            let then = &before.rows[operation];
            for at in 0..3 {
                let ([_, then], [_, now]) = (then[at], now[at]);
                let (less, more) = (then.min(now), then.max(now));
                if more <= (less * MOST[at]).max(less + SLACK) {
                    continue;
                }
                is_more |= now > then;
                let verdict = if now > then { "MORE" } else { "less" };
                let (build, runtime, shape) = operation;
                let (build, runtime, shape) = (word(build), word(runtime), word(shape));
                let what = COUNTED[at];
                let percent = (now / then - 1.0) * 100.0;
                println!(
                    "{verdict}: {shape}, {runtime}, {build}: {what} {then:.1} → {now:.1} ({percent:+.1} %)"
                );
            }
        }
        is_more
    }
}

/// Formats the counts, and the ratio of the instructions.
fn cells(row: &Row) -> [String; 4] {
    let [instructions, code, data] = row.map(|[tokio, wheel]| format!("{tokio:.1} → {wheel:.1}"));
    let [tokio, wheel] = row[0];
    [instructions, format!("{:.2}", wheel / tokio), code, data]
}

/// Reads the operation, and its counts on one runtime or on both.
fn read_row(line: &str) -> Result<(Shape, Vec<Row>)> {
    let shape = line.split('`').nth(1).context("no operation")?;
    let shape = Shape::from_str(shape, false).map_err(Error::msg)?;
    let mut counts = Vec::new();
    for (tokio, wheel) in line.split('|').filter_map(|cell| cell.split_once(" → ")) {
        counts.push([tokio.trim().parse()?, wheel.trim().parse()?]);
    }
    let rows = counts.chunks_exact(3).map(|row| [row[0], row[1], row[2]]);
    Ok((shape, rows.collect()))
}
