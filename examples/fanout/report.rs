//! What the user sees on the terminal: a line before the runs, a table after them.

use common::table::Columns;
use indicatif::HumanCount;

use crate::outcome::Outcome;
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
pub(crate) fn table(outcomes: &[Outcome]) -> Columns<'_, Outcome> {
    let sides = outcomes.iter();
    let mut columns = Columns::new(sides.map(|outcome| (outcome.side.name(), outcome)));
    for (index, load) in outcomes[0].loads.iter().enumerate() {
        let label = format!("timeouts per second, workers: {}", load.workers);
        columns.row(label, |side| {
            HumanCount(side.loads[index].timeouts_per_second as u64).to_string()
        });
    }
    for (name, quantile) in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)] {
        let label = format!("lateness of those that fire, {name}");
        columns.row(label, |side| duration(side.late.at(quantile)));
    }
    for (name, quantile) in [("p50", 0.5), ("p99.99", 0.9999), ("longest", 1.0)] {
        let label = format!("arming during a mass expiry, {name}");
        columns.row(label, |side| duration(side.waits.at(quantile)));
    }
    columns.row("memory of a pending timer in its box", |side| {
        side.bytes_per_timer.map_or("n/a".to_owned(), bytes)
    });
    columns
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
