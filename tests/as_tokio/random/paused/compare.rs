//! Runs a program with tokio's timers and with ours, and says by which rules they do the same.

use support::prelude::*;

use super::rules::{GOES_ON, LOOKS, Ruled};
use super::thread::run;
use crate::random::program::Program;
use crate::random::trace::Trace;
use crate::random::watchdog::{Outcome, PATIENCE, Runner};
use support::time::{Ours, Tokio};

type Run = fn(&Program) -> Trace;

/// A run by each set of [rules](super::rules); the bits of the index are the rules of the set.
const ORACLES: [Run; 4] = [
    run::<Tokio>,
    run::<Ruled<GOES_ON>>,
    run::<Ruled<LOOKS>>,
    run::<Ruled<{ GOES_ON | LOOKS }>>,
];

/// A runner for each set of rules, and ours.
pub(crate) struct Runners {
    oracles: [Runner<Trace>; 4],
    wheel: Runner<Trace>,
}

pub(crate) enum Failure {
    /// The program does another thing than by any set of rules.
    Differs(String),
    Stopped,
    Hangs,
}

impl Runners {
    pub(crate) fn new() -> Self {
        Runners {
            oracles: ORACLES.map(Runner::new),
            wheel: Runner::new(run::<Ours>),
        }
    }

    /// By which rules the program does the same, if by any.
    pub(crate) fn compare(&mut self, program: &Program, patience: Duration) -> Result<u8, Failure> {
        let ours = match self.wheel.run(program, patience) {
            Outcome::Done(ours) => ours,
            Outcome::Stopped => return Err(Failure::Stopped),
            Outcome::Hangs => return Err(Failure::Hangs),
        };
        let mut differences = Vec::new();
        for (rules, oracle) in (0..).zip(&mut self.oracles) {
            let theirs = done(program, oracle.run(program, PATIENCE));
            if theirs == ours {
                return Ok(rules);
            }
            differences.push(theirs.difference(&ours));
        }
        let nearest = differences.iter().min_by_key(|difference| difference.len());
        Err(Failure::Differs(format!(
            "{}in all, with wheel:\n{ours}",
            nearest.unwrap()
        )))
    }
}

fn done(program: &Program, outcome: Outcome<Trace>) -> Trace {
    match outcome {
        Outcome::Done(trace) => trace,
        _ => panic!("does not end with tokio's timers: {program}"),
    }
}

impl Failure {
    pub(crate) fn is_like(&self, other: &Failure) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Differs(how) => f.write_str(how),
            Failure::Stopped => f.write_str("does not end"),
            Failure::Hangs => f.write_str("does not end, and cannot be stopped"),
        }
    }
}
