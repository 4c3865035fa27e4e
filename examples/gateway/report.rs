//! What the user sees: one line before the runs, one table after them, and what in that is not as the plan has it.

use std::ops::RangeInclusive;
use std::time::Duration;

use common::table::Columns;
use indicatif::HumanCount;

use crate::plan::BACKENDS;
use crate::run::Run;

/// One row per figure, one column per run.
pub(crate) fn table(runs: &[Run]) -> Columns<'_, Run> {
    let mut columns = Columns::new(runs.iter().map(|run| (run.side, run)));
    for (index, (label, ..)) in counts(&runs[0]).iter().enumerate() {
        columns.row(label, |run| HumanCount(counts(run)[index].2).to_string());
    }
    columns.row("requests per second", |run| {
        let rate = run.requests() as f64 / run.heard.took.as_secs_f64();
        HumanCount(rate as u64).to_string()
    });
    for (label, quantile) in [("latency p50", 0.5), ("  p99", 0.99), ("  p99.9", 0.999)] {
        let latency = |run: &Run| run.heard.latency.value_at_quantile(quantile);
        columns.row(label, |run| {
            format!("{:.2?}", Duration::from_micros(latency(run)))
        });
    }
    // Of the whole process: clients, gateway and backends.
    columns.row("CPU time per request", |run| {
        let cpu = run.cpu.map(|cpu| cpu.div_f64(run.requests() as f64));
        cpu.map_or("n/a".to_owned(), |cpu| format!("{cpu:.1?}"))
    });
    columns
}

/// Counts that are not what they must be.
pub(crate) fn faults(run: &Run) -> Vec<String> {
    let mut faults = Vec::from(counts(run));
    faults.retain(|(_, bounds, found)| !bounds.contains(found));
    let fault = |(what, bounds, found): &(&str, _, _)| {
        format!("{}: {}: {found}, not in {bounds:?}", run.side, what.trim())
    };
    faults.iter().map(fault).collect()
}

/// What is counted, what it must be, and what it is.
///
/// Under load an answer may come too late though the plan has it in time, so a timer may fire
/// more often than the plan says. Where the whole machine stands still for longer than the limits are
/// apart, both are over when it goes on, and a few requests end by the wrong one.
fn counts(run: &Run) -> [(&'static str, RangeInclusive<u64>, u64); 9] {
    let Run { plan, tally, .. } = run;
    let (exactly, at_least) = (|count| count..=count, |count| count..=u64::MAX);
    let (requests, never) = (plan.all_requests(), plan.all_never());
    let (calls, answered) = (requests * BACKENDS, tally.answered.get());
    let (clients, opened) = (plan.load.connections, tally.opened.get());
    let (nearly, lowest) = (never - never / 10, clients + plan.all_silent());
    [
        ("requests", exactly(requests), tally.requests.get()),
        ("  answered", exactly(requests), run.requests()),
        ("  in part or late", at_least(never), tally.partial.get()),
        ("calls", exactly(calls), tally.calls.get()),
        ("  answered", exactly(answered), tally.heard.get()),
        ("  timed out", at_least(nearly), tally.call_fired.get()),
        ("timers that fired early", exactly(0), tally.early.get()),
        ("connections", at_least(lowest), opened),
        (
            "  timed out",
            exactly(opened - clients),
            tally.timed_out.get(),
        ),
    ]
}
