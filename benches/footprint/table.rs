//! The table in the repository: the counts when they were last accepted, and the comparison with new counts.

use std::fs;
use std::iter::once;

use anyhow::{Context as _, Error, Result, bail, ensure};
use clap::ValueEnum as _;
use common::table::{Cell, Table as Markdown, markdown, number};
use common::{println, word};

use crate::plan::{self, Row, Rows, Runtime, SETTINGS, Setting, Shape};
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

/// The operation, and its [`cells`].
const HEADER: &str = "operation|instructions: Tokio|tokio-wheel|÷ Tokio|code lines: Tokio|tokio-wheel|data lines: Tokio|tokio-wheel";

/// The heading of a setting's table.
fn heading(setting: Setting) -> &'static str {
    match setting {
        (Build::Release, Runtime::MultiThread) => {
            "## `cargo build --release`, multi-thread runtime"
        }
        (Build::Release, Runtime::CurrentThread) => "## The same build, current-thread runtime",
        (Build::Lto, _) => "## Link-time optimisation, one codegen unit, multi-thread runtime",
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
        let (mut setting, mut rows) = (SETTINGS[0], Rows::new());
        for line in text.lines() {
            let mut settings = SETTINGS.into_iter();
            setting = settings
                .find(|one| heading(*one) == line)
                .unwrap_or(setting);
            if line.starts_with("| `") {
                let (shape, row) = read_row(line).with_context(|| line.to_owned())?;
                rows.insert((setting, shape), row);
            }
        }
        let all = plan::operations(&[]);
        ensure!(rows.keys().eq(&all), "table.md has other operations");
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

    /// The counts as Markdown, with a table for each setting that was counted.
    pub(crate) fn print(&self) -> String {
        let is_counted = |one: &Setting| self.rows.keys().any(|(setting, _)| setting == one);
        let print = |setting| format!("{}\n\n{}", heading(setting), self.of(setting));
        let settings = SETTINGS.into_iter().filter(is_counted);
        settings.map(print).collect::<Vec<_>>().join("\n\n")
    }

    fn of(&self, setting: Setting) -> Markdown {
        let mut table = markdown(HEADER.split('|'));
        for ((_, shape), row) in self.rows.iter().filter(|(of, _)| of.0 == setting) {
            let cells = cells(row).map(number);
            table.add_row(once(Cell::new(shape.heading())).chain(cells));
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
                let ((build, runtime), shape) = operation;
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

/// Formats the counts, and after the instructions their ratio.
fn cells(row: &Row) -> impl Iterator<Item = String> {
    let [tokio, wheel] = row[0];
    let mut counts: Vec<_> = row.iter().flatten().map(|n| format!("{n:.1}")).collect();
    counts.insert(2, format!("{:.2}", wheel / tokio));
    counts.into_iter()
}

/// Reads the operation and its counts.
fn read_row(line: &str) -> Result<(Shape, Row)> {
    let shape = line.split('`').nth(1).context("no operation")?;
    let shape = Shape::from_str(shape, false).map_err(Error::msg)?;
    let cells = line.trim_matches('|').split('|').skip(1).map(str::trim);
    let cells: Vec<f64> = cells.map(str::parse).collect::<Result<_, _>>()?;
    let [a, b, _, c, d, e, f] = cells[..] else {
        bail!("not three counts and a ratio")
    };
    Ok((shape, [[a, b], [c, d], [e, f]]))
}
