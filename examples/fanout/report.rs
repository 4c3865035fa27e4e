//! What the user sees on the terminal: a line before the runs, bars meanwhile, a table after them.

use indicatif::{HumanCount, ProgressBar, ProgressStyle};

use crate::options::Options;
use crate::outcome::Outcome;
use common::table::Columns;

pub(crate) fn headline(options: &Options) -> String {
    format!(
        "Tasks: {}. Timeouts: {}, one around each task and one around each of its {} calls; \
         {} of them fire, the others are cancelled. Workers: {:?}.",
        HumanCount(options.tasks),
        HumanCount(options.timeouts()),
        options.calls,
        HumanCount(options.lost_tasks()),
        options.worker_counts(),
    )
}

/// Draws to stderr, and only where that is a terminal.
pub(crate) fn progress_bar(name: &'static str, tasks: u64) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{prefix:11} {wide_bar} {human_pos}/{human_len} tasks {eta}");
    let bar = ProgressBar::new(tasks).with_prefix(name);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

/// A row for each figure, a column for each side.
pub(crate) fn table(outcomes: &[Outcome]) -> Columns<'_, Outcome> {
    let mut columns = Columns::new(
        outcomes
            .iter()
            .map(|outcome| (outcome.side.name(), outcome)),
    );
    for (index, load) in outcomes[0].loads.iter().enumerate() {
        columns.row(
            format!("timeouts per second, workers: {}", load.workers),
            |side| HumanCount(side.loads[index].timeouts_per_second as u64).to_string(),
        );
    }
    for (name, quantile) in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)] {
        columns.row(format!("lateness of those that fire, {name}"), |side| {
            duration(side.late.at(quantile))
        });
    }
    for (name, quantile) in [("p50", 0.5), ("p99.99", 0.9999), ("longest", 1.0)] {
        columns.row(format!("arming during a mass expiry, {name}"), |side| {
            duration(side.waits.at(quantile))
        });
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
