//! What the user sees on the terminal: a line before the runs, bars meanwhile, a table after them.

use indicatif::{HumanCount, ProgressBar, ProgressStyle};

use crate::options::{Options, Side};
use crate::outcome::Outcome;
use crate::table::Columns;

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

/// A row for each figure, a column for each side that has timers.
pub(crate) fn table(outcomes: &[Outcome]) -> Columns<'_, Outcome> {
    let sides: Vec<_> = outcomes
        .iter()
        .filter(|outcome| !outcome.is_of(Side::Without))
        .collect();
    let mut columns = Columns::new(sides.iter().map(|side| (&side.name[..], *side)));
    for (index, load) in sides
        .first()
        .map_or(&[][..], |side| &side.loads)
        .iter()
        .enumerate()
    {
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
    let bare = bare_task(outcomes);
    columns.row("memory of a task under a timeout", |side| {
        side.bytes_per_task.map_or("n/a".to_owned(), bytes)
    });
    columns.row("  of it for the timeout", |side| {
        let own = side.bytes_per_task.zip(bare);
        own.map_or("n/a".to_owned(), |(all, bare)| bytes(all - bare))
    });
    columns
}

/// What a task takes without a timeout.
pub(crate) fn bare_task(outcomes: &[Outcome]) -> Option<f64> {
    let bare = outcomes.iter().find(|outcome| outcome.is_of(Side::Without));
    bare?.bytes_per_task
}

pub(crate) fn bytes(bytes: f64) -> String {
    format!("{bytes:.0} B")
}

pub(crate) fn duration(nanos: f64) -> String {
    match nanos {
        nanos if nanos < 1e3 => format!("{nanos:.0} ns"),
        nanos if nanos < 1e6 => format!("{:.1} µs", nanos / 1e3),
        nanos => format!("{:.2} ms", nanos / 1e6),
    }
}
