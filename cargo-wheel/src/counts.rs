//! What a counting tree reports: `templates/report.rs` writes it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, Table};

use crate::process::{self, Running};
use crate::service::Service;

/// The environment variable that names the folder of the reports.
pub(crate) const VARIABLE: &str = "CARGO_WHEEL_REPORT";

/// More lines are not printed.
const MOST: usize = 20;

#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) armed: u64,
    pub(crate) cancelled: u64,
    pub(crate) fired: u64,
    reset: u64,
    /// In microseconds.
    usual: u64,
}

/// The counts of all processes by line, and the seconds of the one that has run longest.
#[derive(Clone, Default)]
pub(crate) struct Report {
    pub(crate) seconds: f64,
    lines: BTreeMap<String, Counts>,
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
            let numbers: Vec<u64> =
                numbers.split('\t').filter_map(|number| number.parse().ok()).collect();
            if let [armed, cancelled, fired, reset, usual] = numbers[..] {
                let sum = self.lines.entry(shortened(place)).or_default();
                sum.armed += armed;
                sum.cancelled += cancelled;
                sum.fired += fired;
                sum.reset += reset;
                sum.usual = usual;
            }
        }
    }

    /// Returns what was counted after an earlier report.
    fn since(&self, before: &Report) -> Self {
        let mut since = self.clone();
        since.seconds -= before.seconds;
        for (place, old) in &before.lines {
            if let Some(new) = since.lines.get_mut(place) {
                new.armed = new.armed.saturating_sub(old.armed);
                new.cancelled = new.cancelled.saturating_sub(old.cancelled);
                new.fired = new.fired.saturating_sub(old.fired);
                new.reset = new.reset.saturating_sub(old.reset);
            }
        }
        since
    }

    pub(crate) fn sum(&self) -> Counts {
        let add = |sum: Counts, line: &Counts| Counts {
            armed: sum.armed + line.armed,
            cancelled: sum.cancelled + line.cancelled,
            fired: sum.fired + line.fired,
            ..sum
        };
        self.lines.values().fold(Counts::default(), add)
    }

    fn table(&self) -> String {
        let mut lines: Vec<_> =
            self.lines.iter().filter(|(_, line)| line.armed + line.reset > 0).collect();
        lines.sort_by_key(|(_, line)| std::cmp::Reverse(line.armed + line.reset));
        let mut table = table([
            "line",
            "armed per second",
            "cancelled",
            "fired",
            "resets per second",
            "usual duration",
        ]);
        for (place, line) in lines.iter().take(MOST) {
            let share = |part: u64| match line.armed {
                0 => "-".to_owned(),
                armed => format!("{} %", (100 * part + armed / 2) / armed),
            };
            let rate = |count: u64| grouped(count as f64 / self.seconds.max(1e-6));
            let usual = Duration::from_millis((line.usual + 500) / 1000);
            let shares = [rate(line.armed), share(line.cancelled), share(line.fired)];
            table.add_row(
                [(*place).clone()]
                    .into_iter()
                    .chain(shares)
                    .chain([rate(line.reset), format!("{usual:?}")]),
            );
        }
        let more = lines.len().saturating_sub(MOST);
        let more = if more > 0 { format!("\nand {more} lines more") } else { String::new() };
        format!("{table}{more}")
    }
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
    table.load_style(UTF8_FULL_CONDENSED);
    table.set_header(titles);
    table.column_iter_mut().skip(1).for_each(|column| {
        column.set_cell_alignment(CellAlignment::Right);
    });
    table
}

/// Formats a number with at least three digits, and commas between thousands.
pub(crate) fn grouped(number: f64) -> String {
    let decimals = if number.abs() < 10.0 { 2 } else { usize::from(number.abs() < 100.0) };
    let text = format!("{number:.decimals$}");
    let (whole, rest) =
        text.split_once('.').map_or((&text[..], ""), |(whole, _)| (whole, &text[whole.len()..]));
    let digits = whole.chars().enumerate().flat_map(|(at, digit)| {
        let is_first = at == 0 || (whole.len() - at) % 3 != 0;
        [(!is_first).then_some(','), Some(digit)]
    });
    digits.flatten().collect::<String>() + rest
}

/// Runs a program, and prints the table as long as it runs and at its end.
pub(crate) fn timers(service: &Service, arguments: &[OsString], every: u64) -> Result<u8> {
    let folder = fresh(service, "report")?;
    let mut command = service.cargo_with(arguments);
    command.env(VARIABLE, &folder);
    let mut running = Running::start(command)?;
    let (mut shown, mut before) = (Instant::now(), Report::default());
    let status = loop {
        if let Some(status) = running.poll()? {
            break status;
        }
        if shown.elapsed() >= Duration::from_secs(every) {
            let now = Report::read(&folder)?;
            if now.seconds > before.seconds {
                eprintln!("{}", now.since(&before).table());
            }
            (shown, before) = (Instant::now(), now);
        }
    };
    let report = Report::read(&folder)?;
    println!("In {:.1} seconds:\n{}", report.seconds, report.table());
    Ok(process::code(status))
}

/// Makes an empty folder of this command's.
pub(crate) fn fresh(service: &Service, name: &str) -> Result<std::path::PathBuf> {
    let folder = service.target.join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}
