//! What a counting tree reports: `templates/report.rs` writes it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{IsTerminal as _, stdin};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, Table};
use indicatif::HumanFloatCount;
use regex_lite::Regex;

use crate::process::{self, Running};
use crate::service::Service;
use crate::tree::Counting;

/// The environment variable that names the folder of the reports.
pub(crate) const VARIABLE: &str = "CARGO_WHEEL_REPORT";

const EVERY: Duration = Duration::from_secs(5);

/// More lines are not printed.
const MOST: usize = 20;

/// The counts of all processes by line of code, and the seconds of the one that has run longest. The
/// counts are: armed, cancelled, fired, and the sum of the durations in microseconds.
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

    /// How many timers were armed, cancelled, and fired.
    pub(crate) fn totals(&self) -> [u64; 3] {
        [0, 1, 2].map(|at| self.lines.values().map(|counts| counts[at]).sum())
    }

    fn print(&self) {
        let mut lines: Vec<_> = self.lines.iter().filter(|(_, counts)| counts[0] > 0).collect();
        lines.sort_by_key(|(_, counts)| std::cmp::Reverse(counts[0]));
        let mut table = table(["line", "armed/s", "cancelled", "fired", "mean duration"]);
        for (place, counts) in lines.iter().take(MOST) {
            let [armed, cancelled, fired, micros] = **counts;
            let rate = short(armed as f64 / self.seconds);
            let share = |part: u64| format!("{} %", (100 * part + armed / 2) / armed);
            let mean = format!("{:?}", Duration::from_millis((micros / armed + 500) / 1000));
            table.add_row([place, &rate, &share(cancelled), &share(fired), &mean]);
        }
        let (seconds, count) = (self.seconds, lines.len());
        println!("In {seconds:.1} seconds, {count} lines of code have armed timers:\n{table}");
    }
}

/// Formats a number with commas, and with decimals if it is small.
pub(crate) fn short(number: f64) -> String {
    let decimals = if number < 100.0 { 2 } else { 0 };
    format!("{:.decimals$}", HumanFloatCount(number))
}

/// A table whose columns are numbers, except the first.
pub(crate) fn table<const N: usize>(titles: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_header(titles);
    table.column_iter_mut().skip(1).for_each(|column| {
        column.set_cell_alignment(CellAlignment::Right);
    });
    table
}

/// Runs a program on a tree that counts, and prints the table every few seconds and at its end.
pub(crate) fn timers(mut service: Service, arguments: &[OsString]) -> Result<u8> {
    let _saved = service.go_on_tree(Counting::Lines)?;
    let folder = fresh(&service)?;
    let mut command = service.cargo(arguments)?;
    command.env(VARIABLE, &folder);
    let mut running = Running::start(command, !stdin().is_terminal())?;
    let mut printed = Instant::now();
    loop {
        let status = running.poll()?;
        if status.is_some() || printed.elapsed() > EVERY {
            let report = Report::read(&folder)?;
            // Nothing runs while cargo builds.
            if status.is_some() || report.seconds > 0.0 {
                report.print();
            }
            printed = Instant::now();
        }
        if let Some(status) = status {
            return Ok(process::code(status));
        }
    }
}

/// Makes an empty folder for reports.
pub(crate) fn fresh(service: &Service) -> Result<PathBuf> {
    let folder = service.target.join("report");
    // It may not be there yet.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}
