//! What the user sees on the terminal: a line before the runs, a table after them.

use std::time::Duration;

use common::table::Columns;
use indicatif::HumanCount;

use crate::outcome::{Outcome, Rounds};
use crate::{CALLS, LOST, timeouts, worker_counts};

pub(crate) fn headline(tasks: u64) -> String {
    format!(
        "Tasks: {}. Timeouts: {}, one around each task and one around each of its {CALLS} calls; \
         {} of them fire, the others are cancelled. Workers: {:?}.",
        HumanCount(tasks),
        HumanCount(timeouts(tasks)),
        HumanCount(tasks.div_ceil(LOST)),
        worker_counts().collect::<Vec<_>>(),
    )
}

/// A row for each figure, a column for each side.
pub(crate) fn table(sides: &[Rounds]) -> Columns<'_, Rounds> {
    let mut columns = Columns::new(sides.iter().map(|side| (side.side.name(), side)));
    let mut row = |label: String, get: &dyn Fn(&Outcome) -> f64, show: fn(f64) -> String| {
        columns.row(label, |side| compared(side, &sides[0], get, show));
    };
    for (index, workers) in worker_counts().enumerate() {
        let label = format!("timeouts per second, workers: {workers}");
        row(label, &|round| round.timeouts_per_second[index], rate);
    }
    for (name, quantile) in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)] {
        let label = format!("lateness of those that fire, {name}");
        row(label, &|round| round.late.at(quantile), duration);
    }
    for (name, quantile) in [("p50", 0.5), ("p99.99", 0.9999), ("longest", 1.0)] {
        let label = format!("arming during a mass expiry, {name}");
        row(label, &|round| round.waits.at(quantile), duration);
    }
    let label = "memory of a pending timer in its box".to_owned();
    row(label, &|round| round.bytes_per_timer, bytes);
    columns
}

/// The median of the rounds, and beside a side's that of the ratios to the first side's.
fn compared(
    side: &Rounds,
    first: &Rounds,
    get: &dyn Fn(&Outcome) -> f64,
    show: fn(f64) -> String,
) -> String {
    let median = show(side.median(get));
    if side.side == first.side {
        return median;
    }
    format!("{median} ({:.2}×)", side.ratio(first, get))
}

fn rate(per_second: f64) -> String {
    HumanCount(per_second as u64).to_string()
}

pub(crate) fn bytes(bytes: f64) -> String {
    format!("{bytes:.1} B")
}

fn duration(nanos: f64) -> String {
    format!("{:.2?}", Duration::from_nanos(nanos as u64))
}
