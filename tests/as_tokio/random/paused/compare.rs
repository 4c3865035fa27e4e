//! Runs a program with Tokio's timers and with ours, and finds the rules by which both runs are the same.

use support::prelude::*;

use super::rules::{CONTINUES, LATE_IS_READY, Ruled};
use super::thread::run;
use crate::random::program::Program;
use crate::random::trace::Trace;

/// Runs a program by each set of [rules](super::rules). The bits of the index are the rules of the set.
const ORACLES: [fn(&Program) -> Trace; 4] = [
    run::<Tokio>,
    run::<Ruled<CONTINUES>>,
    run::<Ruled<LATE_IS_READY>>,
    run::<Ruled<{ CONTINUES | LATE_IS_READY }>>,
];

/// The limit for a program, which takes about a millisecond.
const PATIENCE: Duration = Duration::from_secs(5);

/// The failure of a program that does not end.
pub(crate) const HANGS: &str = "does not end";

/// Runs a program on a thread of its own. Returns `None`, and leaves the thread behind, if the program
/// does not end.
pub(crate) fn watched<R: Send + 'static>(run: fn(&Program) -> R, program: &Program) -> Option<R> {
    let (done, result) = mpsc::channel();
    let program = program.clone();
    let work = move || drop(done.send(run(&program)));
    let thread = thread::Builder::new().name(QUIET.to_owned());
    thread.spawn(work).unwrap();
    result.recv_timeout(PATIENCE).ok()
}

/// Returns the rules by which both runs are the same, or the smallest difference.
pub(crate) fn compare(program: &Program) -> Result<u8, String> {
    let ours = watched(run::<Ours>, program).ok_or(HANGS)?;
    let mut differences = Vec::new();
    for (rules, oracle) in (0..).zip(ORACLES) {
        let theirs = watched(oracle, program).ok_or(HANGS)?;
        if theirs == ours {
            return Ok(rules);
        }
        differences.push(theirs.difference(&ours));
    }
    let nearest = differences.iter().min_by_key(|difference| difference.len());
    let nearest = nearest.unwrap();
    Err(format!("{nearest}in all, with wheel:\n{ours}"))
}
