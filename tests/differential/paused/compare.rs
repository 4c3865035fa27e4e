//! Runs a program with tokio's timers and with ours, and says by which rules they do the same.

use std::fmt;
use std::time::Duration;

use super::program::Program;
use super::rules::{GOES_ON, LOOKS, Ruled, TICKS_AT_ONCE};
use super::thread::run;
use super::trace::Trace;
use super::watchdog::{Outcome, PATIENCE, Runner};
use crate::time::{Tokio, Wheel};

type Run = fn(&Program) -> Trace;

/// Sets of [rules](super::rules), the smallest first, and what they come to.
const ORACLES: [(u8, Run); 8] = [
    (0, run::<Tokio>),
    (GOES_ON, run::<Ruled<GOES_ON>>),
    (LOOKS, run::<Ruled<LOOKS>>),
    (TICKS_AT_ONCE, run::<Ruled<TICKS_AT_ONCE>>),
    (GOES_ON | LOOKS, run::<Ruled<{ GOES_ON | LOOKS }>>),
    (
        TICKS_AT_ONCE | GOES_ON,
        run::<Ruled<{ TICKS_AT_ONCE | GOES_ON }>>,
    ),
    (
        TICKS_AT_ONCE | LOOKS,
        run::<Ruled<{ TICKS_AT_ONCE | LOOKS }>>,
    ),
    (
        TICKS_AT_ONCE | GOES_ON | LOOKS,
        run::<Ruled<{ TICKS_AT_ONCE | GOES_ON | LOOKS }>>,
    ),
];

/// One for each set of rules, and ours.
pub(crate) struct Runners {
    oracles: Vec<(u8, Runner<Trace>)>,
    wheel: Runner<Trace>,
}

pub(crate) enum Failure {
    /// It does another thing than by any set of rules.
    Differs(String),
    Stopped,
    Hangs,
}

impl Runners {
    pub(crate) fn new() -> Self {
        let runner = |&(rules, run)| (rules, Runner::new(run));
        Runners {
            oracles: ORACLES.iter().map(runner).collect(),
            wheel: Runner::new(run::<Wheel>),
        }
    }

    /// By which rules it does the same, if by any.
    pub(crate) fn compare(&mut self, program: &Program, patience: Duration) -> Result<u8, Failure> {
        let ours = match self.wheel.run(program, patience) {
            Outcome::Done(ours) => ours,
            Outcome::Stopped => return Err(Failure::Stopped),
            Outcome::Hangs => return Err(Failure::Hangs),
        };
        let mut nearest: Option<String> = None;
        for (rules, oracle) in &mut self.oracles {
            let theirs = done(program, oracle.run(program, PATIENCE));
            if theirs == ours {
                return Ok(*rules);
            }
            let difference = theirs.difference(&ours);
            if nearest
                .as_ref()
                .is_none_or(|nearest| difference.len() < nearest.len())
            {
                nearest = Some(difference);
            }
        }
        let nearest = nearest.unwrap_or_default();
        Err(Failure::Differs(format!(
            "{nearest}in all, with wheel:\n{ours}"
        )))
    }

    /// Whether a program does another thing with tokio's timers by these rules.
    pub(crate) fn matters(&mut self, program: &Program, rules: u8) -> bool {
        let mut run = |rules| {
            let oracle = self.oracles.iter_mut().find(|oracle| oracle.0 == rules);
            done(program, oracle.unwrap().1.run(program, PATIENCE))
        };
        run(0) != run(rules)
    }

    /// tokio's timers do the same every time, or nothing could be said.
    pub(crate) fn check_tokio(&mut self, program: &Program) {
        for (_, oracle) in &mut self.oracles {
            let mut run = || done(program, oracle.run(program, PATIENCE));
            // On a busy machine a thread that was left behind may come in between: twice in a
            // row is enough.
            let (mut once, mut again) = (run(), run());
            for _ in 0..5 {
                if once != again {
                    (once, again) = (again, run());
                }
            }
            let difference = once.difference(&again);
            assert!(
                once == again,
                "tokio does two things: {program}{difference}"
            );
        }
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
