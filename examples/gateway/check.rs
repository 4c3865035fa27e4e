//! What the timers did against what the shares say they must have done.

use crate::plan::{Expected, Plan};
use crate::run::Run;

/// Counts that are not what they must be.
///
/// Under load an answer may come too late though the shares have it in time, so a timer may fire
/// more often than they say. Calls that get no answer are counted apart, so those stay exact.
pub(crate) fn faults(plan: &Plan, run: &Run) -> Vec<String> {
    let expected = Expected::of(plan);
    let Run { heard, tally, .. } = run;
    let answered = tally.answered.get();
    let never_ended = tally.never_fired.get() + tally.never_dropped.get();
    let mut exactly = vec![
        ("requests answered", expected.requests, heard.requests),
        ("requests served", expected.requests, tally.requests.get()),
        ("calls made", expected.calls, tally.calls.get()),
        (
            "backends' answers that reached a client",
            answered,
            heard.answered,
        ),
        (
            "calls without an answer, ended by a timer",
            expected.never,
            never_ended,
        ),
        (
            "connections closed for want of a head",
            expected.silent + heard.reopened,
            run.connections.timed_out,
        ),
        (
            "timers that fired early",
            0,
            heard.early + tally.early.get(),
        ),
        (
            "requests in /metrics",
            tally.requests.get(),
            run.exported.requests,
        ),
        (
            "timeouts of calls in /metrics",
            tally.call_fired.get(),
            run.exported.call_timeouts,
        ),
    ];
    let mut at_least = vec![
        // As many as were not given up.
        ("calls that reached a backend", answered, run.backends_saw),
        shorter_limit(plan, &expected, run),
        (
            "answers in part or late",
            expected.partial,
            heard.partial + heard.late,
        ),
    ];
    if let Some(timers) = &run.exported.timers {
        let known = timers.fired + timers.cancelled + timers.active;
        exactly.push((
            "timers registered, by what became of them",
            timers.registered,
            known,
        ));
        at_least.push((
            "timers that the wheel says fired",
            tally.call_fired.get(),
            timers.fired,
        ));
    }
    let fault = |bound, (what, expected, found)| {
        format!(
            "{}: {what}: {bound} {expected} expected, {found} found",
            run.name
        )
    };
    let exactly = exactly
        .into_iter()
        .filter(|(_, expected, found)| found != expected);
    let at_least = at_least
        .into_iter()
        .filter(|(_, expected, found)| found < expected);
    let faults = exactly.map(|count| fault("exactly", count));
    faults
        .chain(at_least.map(|count| fault("at least", count)))
        .collect()
}

/// A request with a call that is not answered ends by the shorter of the two limits.
///
/// Where the whole machine stands still for longer than the limits are apart, both are over when it
/// goes on, and a few requests end by the wrong one: a tenth may.
fn shorter_limit(plan: &Plan, expected: &Expected, run: &Run) -> (&'static str, u64, u64) {
    let nearly = |count: u64| count - count / 10;
    if plan.call_timeout < plan.request_timeout {
        let what = "calls without an answer, ended by their own timer";
        (what, nearly(expected.never), run.tally.never_fired.get())
    } else {
        let what = "requests ended by their timer";
        (what, nearly(expected.partial), run.heard.late)
    }
}
