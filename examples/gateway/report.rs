//! What the user sees: one line before the runs, one table after them.

use std::time::Duration;

use comfy_table::{CellAlignment, Table, presets::UTF8_FULL_CONDENSED};
use indicatif::HumanCount;

use crate::options::Options;
use crate::plan::Expected;
use crate::run::Run;

pub(crate) fn headline(options: &Options) -> String {
    let plan = &options.plan;
    let expected = Expected::of(plan);
    format!(
        "Connections: {} ({} fall silent). Requests: {}. \
         Calls: {} to {} backends ({} never answered). Workers: {}.",
        HumanCount(plan.connections),
        HumanCount(expected.silent),
        HumanCount(expected.requests),
        HumanCount(expected.calls),
        plan.backends,
        HumanCount(expected.never),
        options.workers,
    )
}

/// A row's label, and its cell for a run.
type Row = (&'static str, fn(&Run) -> String);

const ROWS: [Row; 14] = [
    ("requests", |run| count(run.heard.requests)),
    ("  of them with a partial answer", |run| {
        count(run.heard.partial)
    }),
    ("calls", |run| count(run.served.calls)),
    ("call timeouts: fired", |run| count(run.served.call_fired)),
    ("  cancelled", |run| {
        count(run.served.calls - run.served.call_fired)
    }),
    ("request timeouts: fired", |run| {
        count(run.served.request_fired)
    }),
    ("  cancelled", |run| {
        count(run.served.requests - run.served.request_fired)
    }),
    ("idle timers: fired", |run| count(run.served.idle_fired)),
    ("  cancelled", |run| {
        count(run.served.connections - run.served.idle_fired)
    }),
    ("requests per second", |run| {
        count((run.heard.requests as f64 / run.elapsed.as_secs_f64()) as u64)
    }),
    ("latency p50, ms", |run| latency(run, 0.5)),
    ("  p99", |run| latency(run, 0.99)),
    ("  p99.9", |run| latency(run, 0.999)),
    ("CPU time of the process, s", |run| {
        run.cpu.map_or("n/a".into(), seconds)
    }),
];

/// One row per figure, one column per run.
pub(crate) fn table(runs: &[Run]) -> Table {
    let mut table = Table::new();
    table.load_preset(UTF8_FULL_CONDENSED);
    table.set_header([""].into_iter().chain(runs.iter().map(|run| run.name)));
    for (label, cell) in ROWS {
        table.add_row([label.to_owned()].into_iter().chain(runs.iter().map(cell)));
    }
    table
        .column_iter_mut()
        .skip(1)
        .for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table
}

fn count(number: u64) -> String {
    HumanCount(number).to_string()
}

fn latency(run: &Run, quantile: f64) -> String {
    let microseconds = run.heard.latency.value_at_quantile(quantile);
    format!("{:.2}", microseconds as f64 / 1e3)
}

fn seconds(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64())
}
