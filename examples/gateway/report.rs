//! What the user sees: one line before the runs, one table after them.

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

/// One row per figure, one column per run.
pub(crate) fn table(runs: &[Run]) -> Columns<'_, Run> {
    let mut columns = Columns::new(runs.iter().map(|run| (run.side.name(), run)));
    for (index, (label, _)) in figures(&runs[0]).iter().enumerate() {
        columns.row(label, |run| figures(run)[index].1.clone());
    }
    columns
}

/// What the rows are called, and what they say of a run.
fn figures(run: &Run) -> [(&'static str, String); 14] {
    let Run { heard, tally, .. } = run;
    let (requests, calls) = (heard.requests(), tally.calls.get());
    let (fired, late) = (tally.call_fired.get(), heard.late);
    let count = |number: u64| HumanCount(number).to_string();
    let latency = |quantile| {
        let micros = heard.latency.value_at_quantile(quantile);
        format!("{:.2}", micros as f64 / 1e3)
    };
    let rate = requests as f64 / run.elapsed.as_secs_f64();
    // Of the whole process: clients, gateway and backends.
    let cpu = run.cpu.map(|cpu| cpu.as_secs_f64() * 1e6 / requests as f64);
    [
        ("requests", count(requests)),
        ("  of them with a partial answer", count(heard.partial)),
        ("calls", count(calls)),
        ("call timeouts: fired", count(fired)),
        ("  cancelled", count(calls - fired)),
        ("request timeouts: fired", count(late)),
        ("  cancelled", count(requests - late)),
        ("connections", count(run.connections.opened)),
        (
            "  closed for want of a head",
            count(run.connections.timed_out),
        ),
        ("requests per second", count(rate as u64)),
        ("latency p50, ms", latency(0.5)),
        ("  p99", latency(0.99)),
        ("  p99.9", latency(0.999)),
        (
            "CPU time per request, µs",
            cpu.map_or("n/a".into(), |cpu| format!("{cpu:.1}")),
        ),
    ]
}
