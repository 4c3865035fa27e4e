//! What the user sees: one line before the runs, one table after them.

use std::time::Duration;

use indicatif::HumanCount;

use crate::Options;
use crate::plan::BACKENDS;
use crate::run::Run;
use common::table::Columns;

pub(crate) fn headline(options: &Options) -> String {
    let plan = options.plan();
    format!(
        "Connections: {} ({} fall silent). Requests: {}. \
         Calls: {} to {} backends ({} never answered). Workers: {}.",
        HumanCount(plan.connections),
        HumanCount(plan.all_silent()),
        HumanCount(plan.all_requests()),
        HumanCount(plan.all_requests() * BACKENDS),
        BACKENDS,
        HumanCount(plan.all_never()),
        options.workers(),
    )
}

/// A row's label, and its cell for a run.
type Row = (&'static str, fn(&Run) -> String);

const ROWS: [Row; 14] = [
    ("requests", |run| count(run.heard.requests())),
    ("  of them with a partial answer", |run| {
        count(run.heard.partial)
    }),
    ("calls", |run| count(run.tally.calls.get())),
    ("call timeouts: fired", |run| {
        count(run.tally.call_fired.get())
    }),
    ("  cancelled", |run| {
        count(run.tally.calls.get() - run.tally.call_fired.get())
    }),
    ("request timeouts: fired", |run| count(run.heard.late)),
    ("  cancelled", |run| {
        count(run.heard.requests() - run.heard.late)
    }),
    ("connections", |run| count(run.connections.opened)),
    ("  closed for want of a head", |run| {
        count(run.connections.timed_out)
    }),
    ("requests per second", |run| {
        count((run.heard.requests() as f64 / run.elapsed.as_secs_f64()) as u64)
    }),
    ("latency p50, ms", |run| latency(run, 0.5)),
    ("  p99", |run| latency(run, 0.99)),
    ("  p99.9", |run| latency(run, 0.999)),
    ("CPU time per request, µs", |run| {
        run.cpu
            .map_or("n/a".into(), |cpu| each(cpu, run.heard.requests()))
    }),
];

/// One row per figure, one column per run.
pub(crate) fn table(runs: &[Run]) -> Columns<'_, Run> {
    let mut columns = Columns::new(runs.iter().map(|run| (run.side.name(), run)));
    for (label, cell) in ROWS {
        columns.row(label, cell);
    }
    columns
}

fn count(number: u64) -> String {
    HumanCount(number).to_string()
}

fn latency(run: &Run, quantile: f64) -> String {
    let microseconds = run.heard.latency.value_at_quantile(quantile);
    format!("{:.2}", microseconds as f64 / 1e3)
}

/// Of the whole process: clients, gateway and backends.
fn each(cpu: Duration, requests: u64) -> String {
    format!("{:.1}", cpu.as_secs_f64() * 1e6 / requests as f64)
}
