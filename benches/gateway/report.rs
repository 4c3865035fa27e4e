//! What the user sees of the runs: one table, and what in that is not as the plan has it.

use std::ops::RangeInclusive;
use std::time::Duration;

use anyhow::{Result, ensure};
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
    let requests = |run: &Run| run.latency.len() as f64;
    columns.row("requests per second", |run| {
        format!("{:.0}", requests(run) / run.took.as_secs_f64())
    });
    for (label, quantile) in [("latency p50", 0.5), ("  p99", 0.99), ("  p99.9", 0.999)] {
        let micros = |run: &Run| run.latency.value_at_quantile(quantile);
        let latency = |run: &Run| Duration::from_micros(micros(run));
        columns.row(label, |run| format!("{:.2?}", latency(run)));
    }
    // Of the whole process: clients, gateway and backends.
    columns.row("CPU time per request", |run| {
        let cpu = run.cpu.map(|cpu| cpu.div_f64(requests(run)));
        cpu.map_or("n/a".to_owned(), |cpu| format!("{cpu:.1?}"))
    });
    columns
}

/// Whether all counts are what they must be.
pub(crate) fn check(run: &Run) -> Result<()> {
    for (what, bounds, found) in counts(run) {
        let (side, what) = (run.side, what.trim());
        ensure!(
            bounds.contains(&found),
            "{side}: {what}: {found}, not in {bounds:?}"
        );
    }
    Ok(())
}

/// What is counted, what it must be, and what it is.
///
/// Under load an answer may come too late though the plan has it in time, so a timer may fire
/// more often than the plan says. Where the whole machine stands still for longer than the limits are
/// apart, both are over when it goes on, and a few requests end by the wrong one.
fn counts(run: &Run) -> [(&'static str, RangeInclusive<u64>, u64); 9] {
    let (plan, tally) = (&run.plan, &run.plan.tally);
    let (exactly, at_least) = (|count| count..=count, |count| count..=u64::MAX);
    let (requests, never) = (plan.all_requests(), plan.all_never());
    let (calls, answered) = (requests * BACKENDS, tally.answered.get());
    let (clients, opened) = (plan.load.connections, tally.opened.get());
    let closed = opened.saturating_sub(clients);
    let (nearly, lowest) = (never - never / 10, clients + plan.all_silent());
    [
        ("requests", exactly(requests), tally.requests.get()),
        ("  answered", exactly(requests), run.latency.len()),
        ("  in part or late", at_least(never), tally.partial.get()),
        ("calls", exactly(calls), tally.calls.get()),
        ("  answered", exactly(answered), tally.heard.get()),
        ("  timed out", at_least(nearly), tally.call_fired.get()),
        ("timers that fired early", exactly(0), tally.early.get()),
        ("connections", at_least(lowest), opened),
        ("  without a head", exactly(closed), tally.timed_out.get()),
    ]
}
