//! What a counting tree reports: `src/spans/counts.rs` of tokio-wheel writes it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{IsTerminal as _, stdin};
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, Table};
use indicatif::HumanFloatCount;
use regex_lite::Regex;

use crate::measure::{self, Load};
use crate::process::{self, Running};
use crate::service::Service;
use crate::tree::{self, Kind};

/// More lines are not printed.
const MOST: usize = 20;

#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    load: Load,
    #[command(flatten)]
    cargo: crate::Cargo,
}

/// The counts of all processes by line of code, and the seconds of the one that has run longest. The
/// counts are: armed, cancelled, fired, and the sum of the durations in microseconds. Those of drivers
/// have no line.
#[derive(Default)]
pub(crate) struct Report {
    seconds: f64,
    lines: BTreeMap<String, [u64; 4]>,
}

impl Report {
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let mut report = Report::default();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            // Others are about to be renamed, or are not reports.
            if entry.file_name().to_string_lossy().parse::<u32>().is_ok() {
                report.add(&fs::read_to_string(entry.path())?);
            }
        }
        Ok(report)
    }

    fn add(&mut self, text: &str) {
        let registry =
            Regex::new(r".*[/\\]registry[/\\]src[/\\][^/\\]+[/\\]").expect("a regular expression");
        let (elapsed, lines) = text.split_once('\n').unwrap_or_default();
        self.seconds = self.seconds.max(elapsed.parse().unwrap_or(0.0) / 1e6);
        for line in lines.lines() {
            let (numbers, place) = line.rsplit_once('\t').unwrap_or_default();
            let sum = self.lines.entry(registry.replace(place, "").into_owned()).or_default();
            for (sum, number) in sum.iter_mut().zip(numbers.split('\t')) {
                *sum += number.parse().unwrap_or(0);
            }
        }
    }

    /// How many timers the drivers have armed, cancelled, and fired, or NaN without a driver.
    pub(crate) fn totals(&self) -> [f64; 3] {
        [0, 1, 2].map(|at| self.lines.get("").map_or(f64::NAN, |counts| counts[at] as f64))
    }

    fn print(&self) {
        let is_line = |(place, counts): &(&String, &[u64; 4])| !place.is_empty() && counts[0] > 0;
        let mut lines: Vec<_> = self.lines.iter().filter(is_line).collect();
        if lines.is_empty() {
            return println!("No timer was armed.");
        }
        lines.sort_by_key(|(_, counts)| std::cmp::Reverse(counts[0]));
        let titles = ["line", "armed/s", "cancelled", "fired", "mean duration"];
        let mut table = table(titles.map(str::to_owned));
        for (place, counts) in lines.iter().take(MOST) {
            let [armed, cancelled, fired, micros] = **counts;
            let rate = short(armed as f64 / self.seconds);
            let share = |part: u64| format!("{} %", (100 * part + armed / 2) / armed);
            let mean = micros / armed;
            // Below a millisecond, microseconds count.
            let mean = if mean < 1000 { mean } else { (mean + 500) / 1000 * 1000 };
            let mean = format!("{:?}", Duration::from_micros(mean));
            table.add_row([place, &rate, &share(cancelled), &share(fired), &mean]);
        }
        println!("Lines of code that armed timers in {:.1} seconds:\n{table}", self.seconds);
    }
}

/// Formats a number with commas, and with decimals if it is small.
pub(crate) fn short(number: f64) -> String {
    let decimals = if number < 100.0 { 2 } else { 0 };
    format!("{:.decimals$}", HumanFloatCount(number))
}

/// A table whose columns are numbers, except the first.
pub(crate) fn table(titles: impl IntoIterator<Item = String>) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_header(titles);
    table.column_iter_mut().skip(1).for_each(|column| {
        column.set_cell_alignment(CellAlignment::Right);
    });
    table
}

/// Runs a program on a tree that counts, and prints the table at its end.
pub(crate) fn timers(service: &Service, options: &Options) -> Result<u8> {
    let service = measure::measured(tree::patched(service, Kind::Counting)?)?;
    let built = process::run(&mut service.cargo(&options.cargo.arguments)?)?;
    if !built.success() {
        return Ok(process::code(built));
    }
    let mut command = service.cargo(&options.cargo.arguments)?;
    let folder = measure::report_to(&service, &mut command)?;
    command.env("CARGO_WHEEL_LINES", "1");
    let is_apart = options.load.load.is_some() || !stdin().is_terminal();
    let mut running = Running::start(&mut command, is_apart)?;
    let (status, load) = measure::drive(&folder, &mut running, &options.load)?;
    let report = Report::read(&folder)?;
    if report.seconds > 0.0 || status.success() {
        report.print();
    }
    Ok(if load.is_some() { 0 } else { process::code(status) })
}
