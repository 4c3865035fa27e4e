//! What the user sees on the terminal: a line before the runs, a table after them.

use common::table::Columns;
use indicatif::HumanCount;

use crate::outcome::{Outcome, Rounds};
use crate::{CALLS, Options};

pub(crate) fn headline(options: &Options) -> String {
    format!(
        "Tasks: {}. Timeouts: {}, one around each task and one around each of its {CALLS} calls; \
         {} of them fire, the others are cancelled. Workers: {:?}.",
        HumanCount(options.tasks),
        HumanCount(options.timeouts()),
        HumanCount(options.lost_tasks()),
        options.worker_counts(),
    )
}

/// A row for each figure, a column for each side.
pub(crate) fn table(sides: &[Rounds]) -> Columns<'_, Rounds> {
    let mut columns = Columns::new(sides.iter().map(|side| (side.side.name(), side)));
    let mut row = |label: String, get: &dyn Fn(&Outcome) -> f64, show: fn(f64) -> String| {
        columns.row(label, |side| compared(side, &sides[0], get, show));
    };
    for (index, load) in sides[0].outcomes[0].loads.iter().enumerate() {
        let label = format!("timeouts per second, workers: {}", load.workers);
        row(label, &|round| round.loads[index].timeouts_per_second, rate);
    }
    for (name, quantile) in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)] {
        let label = format!("lateness of those that fire, {name}");
        row(label, &|round| round.late.at(quantile), duration);
    }
    for (name, quantile) in [("p50", 0.5), ("p99.99", 0.9999), ("longest", 1.0)] {
        let label = format!("arming during a mass expiry, {name}");
        row(label, &|round| round.waits.at(quantile), duration);
    }
    columns.row("memory of a pending timer in its box", |side| {
        side.bytes_per_timer().map_or("n/a".to_owned(), bytes)
    });
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

pub(crate) fn duration(nanos: f64) -> String {
    match nanos {
        nanos if nanos < 1e3 => format!("{nanos:.0} ns"),
        nanos if nanos < 1e6 => format!("{:.1} µs", nanos / 1e3),
        nanos => format!("{:.2} ms", nanos / 1e6),
    }
}
