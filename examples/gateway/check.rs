//! What the timers did against what the shares say they must have done.

use std::fmt;

use crate::plan::{Expected, Plan};
use crate::run::Run;

/// A count that is not what it must be.
#[derive(Debug)]
pub(crate) struct Fault {
    side: &'static str,
    what: &'static str,
    bound: &'static str,
    expected: u64,
    found: u64,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault {
            side,
            what,
            bound,
            expected,
            found,
        } = self;
        write!(
            f,
            "{side}: {what}: {bound} {expected} expected, {found} found"
        )
    }
}

pub(crate) fn all(plan: &Plan, runs: &[Run]) -> Vec<Fault> {
    let expected = Expected::of(plan);
    runs.iter()
        .flat_map(|run| faults(plan, &expected, run))
        .collect()
}

/// Under load an answer may come too late though the shares have it in time, so a timer may fire
/// more often than they say. Calls that get no answer are counted apart, so those stay exact.
fn faults(plan: &Plan, expected: &Expected, run: &Run) -> Vec<Fault> {
    let Run { heard, tally, .. } = run;
    let never_ended = tally.never_fired.get() + tally.never_dropped.get();
    let (firing, due, fired) = shorter_limit(plan, expected, run);
    let mut check = Check {
        side: run.name,
        faults: Vec::new(),
    };
    check.exactly("requests answered", expected.requests, heard.requests);
    check.exactly("requests served", expected.requests, tally.requests.get());
    check.exactly("calls made", expected.calls, tally.calls.get());
    let given_up = expected.calls - tally.answered.get();
    check.at_least(
        "calls that reached a backend",
        expected.calls - given_up,
        run.backends_saw,
    );
    check.exactly(
        "backends' answers that reached a client",
        tally.answered.get(),
        heard.answered,
    );
    check.exactly(
        "calls without an answer, ended by a timer",
        expected.never,
        never_ended,
    );
    check.at_least(firing, nearly(due), fired);
    check.at_least(
        "answers in part or late",
        expected.partial,
        heard.partial + heard.late,
    );
    check.exactly(
        "connections closed for want of a head",
        expected.silent + heard.reopened,
        run.connections.timed_out,
    );
    check.exactly(
        "timers that fired early",
        0,
        heard.early + tally.early.get(),
    );
    check.exactly(
        "requests in /metrics",
        tally.requests.get(),
        run.exported.requests,
    );
    check.exactly(
        "timeouts of calls in /metrics",
        tally.call_fired.get(),
        run.exported.call_timeouts,
    );
    if let Some(timers) = &run.exported.timers {
        let gone = timers.fired + timers.cancelled;
        check.exactly(
            "timers registered, by what became of them",
            timers.registered,
            gone + timers.active,
        );
        check.at_least(
            "timers that the wheel says fired",
            tally.call_fired.get(),
            timers.fired,
        );
    }
    check.faults
}

/// A request with a call that is not answered ends by the shorter of the two limits.
fn shorter_limit(plan: &Plan, expected: &Expected, run: &Run) -> (&'static str, u64, u64) {
    if plan.call_timeout < plan.request_timeout {
        let what = "calls without an answer, ended by their own timer";
        (what, expected.never, run.tally.never_fired.get())
    } else {
        (
            "requests ended by their timer",
            expected.partial,
            run.heard.late,
        )
    }
}

/// Where the whole machine stands still for longer than the limits are apart, both are over when it
/// goes on, and a few requests end by the wrong one.
fn nearly(count: u64) -> u64 {
    count - count / 10
}

struct Check {
    side: &'static str,
    faults: Vec<Fault>,
}

impl Check {
    fn exactly(&mut self, what: &'static str, expected: u64, found: u64) {
        if found != expected {
            self.fault(what, "exactly", expected, found);
        }
    }

    fn at_least(&mut self, what: &'static str, expected: u64, found: u64) {
        if found < expected {
            self.fault(what, "at least", expected, found);
        }
    }

    fn fault(&mut self, what: &'static str, bound: &'static str, expected: u64, found: u64) {
        let side = self.side;
        self.faults.push(Fault {
            side,
            what,
            bound,
            expected,
            found,
        });
    }
}
