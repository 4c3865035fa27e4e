//! What a counting tree reports: `templates/report.rs` writes it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, Table};
use indicatif::HumanFloatCount;

use crate::process::{self, Running};
use crate::service::Service;

/// The environment variable that names the folder of the reports.
pub(crate) const VARIABLE: &str = "CARGO_WHEEL_REPORT";

/// More lines are not printed.
const MOST: usize = 20;

/// The counts of all processes by line of code, and the seconds of the one that has run longest. The
/// counts are: armed, cancelled, fired, reset, and the sum of the durations in microseconds.
#[derive(Default)]
pub(crate) struct Report {
    seconds: f64,
    lines: BTreeMap<String, [u64; 5]>,
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
        let (elapsed, lines) = text.split_once('\n').unwrap_or_default();
        self.seconds = self.seconds.max(elapsed.parse().unwrap_or(0.0) / 1e6);
        for line in lines.lines() {
            let (numbers, place) = line.rsplit_once('\t').unwrap_or_default();
            let sum = self.lines.entry(shortened(place)).or_default();
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
        let titles = [
            "line",
            "armed per second",
            "cancelled",
            "fired",
            "resets per second",
            "usual duration",
        ];
        let mut table = table(titles);
        let rate = |count: u64| short(count as f64 / self.seconds.max(1e-6));
        for (place, [armed, cancelled, fired, reset, micros]) in lines.iter().take(MOST) {
            let share = |part: u64| format!("{} %", (100 * part + armed / 2) / armed);
            let usual = format!("{:?}", Duration::from_millis((micros / armed + 500) / 1000));
            table.add_row([
                place,
                &rate(*armed),
                &share(*cancelled),
                &share(*fired),
                &rate(*reset),
                &usual,
            ]);
        }
        println!(
            "In {:.1} seconds, {} lines of code have armed timers:\n{table}",
            self.seconds,
            lines.len()
        );
    }
}

/// Formats a number with commas, and with decimals if it is small.
pub(crate) fn short(number: f64) -> String {
    let decimals = if number < 100.0 { 2 } else { 0 };
    format!("{:.decimals$}", HumanFloatCount(number))
}

/// Leaves out where the registry keeps its packages.
fn shortened(place: &str) -> String {
    let place = place.replace('\\', "/");
    let inner = place.split_once("/registry/src/").and_then(|(_, inner)| inner.split_once('/'));
    inner.map_or(place.clone(), |(_, inner)| inner.to_owned())
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

/// Runs a program, and prints the table as long as it runs and at its end.
pub(crate) fn timers(service: &Service, arguments: &[OsString], every: u64) -> Result<u8> {
    let folder = fresh(service, "report")?;
    let mut command = service.cargo_with(arguments);
    command.env(VARIABLE, &folder);
    let mut running = Running::start(command)?;
    let (mut printed, mut report) = (Instant::now(), Report::default());
    let status = loop {
        if let Some(status) = running.poll()? {
            break status;
        }
        if printed.elapsed() > Duration::from_secs(every) {
            let before = std::mem::replace(&mut report, Report::read(&folder)?);
            // Nothing has run before, while cargo builds.
            if report.seconds > before.seconds {
                report.print();
            }
            printed = Instant::now();
        }
    };
    Report::read(&folder)?.print();
    Ok(process::code(status))
}

/// Makes an empty folder of this command's.
pub(crate) fn fresh(service: &Service, name: &str) -> Result<PathBuf> {
    let folder = service.target.join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}
