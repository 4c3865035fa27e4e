//! What the timers did against what the plan says they must have done.

use crate::plan::{BACKENDS, Plan};
use crate::run::Run;

/// Counts that are not what they must be.
///
/// Under load an answer may come too late though the plan has it in time, so a timer may fire
/// more often than the plan says.
pub(crate) fn faults(plan: &Plan, run: &Run) -> Vec<String> {
    let Run { heard, tally, .. } = run;
    let (requests, never) = (plan.all_requests(), plan.all_never());
    let silent = plan.all_silent() + heard.reopened;
    let early = heard.early + tally.early.get();
    let mut check = Check(run.side.name(), Vec::new());
    check.exactly("requests answered", requests, heard.requests());
    check.exactly("requests served", requests, tally.requests.get());
    check.exactly("calls made", requests * BACKENDS, tally.calls.get());
    check.exactly("timers that fired early", 0, early);
    let answered = tally.answered.get();
    check.exactly("answers that reached a client", answered, heard.answered);
    check.at_least("calls that reached a backend", answered, tally.seen.get());
    // Where the whole machine stands still for longer than the limits are apart, both are over when it
    // goes on, and a few requests end by the wrong one.
    let nearly = never - never / 10;
    check.at_least("calls ended", nearly, tally.never_fired.get());
    let partial = heard.partial + heard.late;
    check.at_least("answers in part or late", never, partial);
    let closed = run.connections.timed_out;
    check.exactly("connections closed for want of a head", silent, closed);
    check.1
}

/// A side, and what is wrong on it.
struct Check(&'static str, Vec<String>);

impl Check {
    fn exactly(&mut self, what: &str, expected: u64, found: u64) {
        if found != expected {
            self.fault(what, "exactly", expected, found);
        }
    }

    fn at_least(&mut self, what: &str, expected: u64, found: u64) {
        if found < expected {
            self.fault(what, "at least", expected, found);
        }
    }

    fn fault(&mut self, what: &str, bound: &str, expected: u64, found: u64) {
        let fault = format!(
            "{}: {what}: {bound} {expected} expected, {found} found",
            self.0
        );
        self.1.push(fault);
    }
}
