//! In virtual time, on current-thread runtimes: programs finish the same operations, at the same time
//! by the runtime's clock, in the same way, or as a documented rule says.
//!
//! | file | idea |
//! | --- | --- |
//! | `mod.rs` | thousands of seeds; programs that differ are made small and printed |
//! | `generate.rs` | a program from a seed |
//! | `thread.rs` | the interpreter of the thread's steps, which drives the runtimes |
//! | `hand.rs`, `by_hand.rs` | timers that are polled by hand, with wakers that are watched |
//! | `coarse.rs` | a driver with a tick of its own |
//! | `clocks.rs` | runtimes with paused clocks that agree |
//! | `rules.rs` | tokio's timers by the rules that are documented, each a constant |
//! | `compare.rs` | by which rules two runs are the same |
//! | `shrink.rs` | the smallest program that fails |
//!
//! `SEED=464 SEEDS=1 cargo test --all-features --test as_tokio programs -- --nocapture` runs
//! a single program. `SHOW` is the number of failed programs that are made small, `FAILURES` the number
//! after which to stop.

mod by_hand;
mod clocks;
mod coarse;
mod compare;
mod generate;
pub(crate) mod hand;
mod rules;
mod shrink;
mod thread;

use support::prelude::*;

use self::compare::{Failure, Runners};
use self::rules::{GOES_ON, LOOKS};
use crate::random::program::{Program, Style};
use crate::random::watchdog::{Outcome, PATIENCE, Runner, Stop};
use crate::random::{number, seeds};

#[test]
fn programs_do_what_they_do_with_tokio() {
    let mut runners = Runners::new();
    let mut failed = Vec::new();
    for seed in seeds(10_000) {
        let program = generate::program(seed);
        if let Err(failure) = compare_patiently(&mut runners, &program) {
            failed.push((seed, program, failure));
        }
        if failed.len() as u64 == number("FAILURES", 20) {
            println!("enough seen, no more than {seed} seeds");
            break;
        }
    }
    for (seed, program, failure) in failed.iter().take(number("SHOW", 5) as usize) {
        let small = smallest(&mut runners, program, failure);
        println!("\nseed {seed}: {small}");
    }
    let seeds: Vec<_> = failed.iter().map(|(seed, ..)| seed).collect();
    assert!(seeds.is_empty(), "{} are different: {seeds:?}", seeds.len());
}

/// On a busy machine threads that were left behind may come in between; a fault stays.
fn compare_patiently(runners: &mut Runners, program: &Program) -> Result<u8, Failure> {
    for _ in 0..4 {
        if let Ok(rules) = runners.compare(program, PATIENCE) {
            return Ok(rules);
        }
    }
    runners.compare(program, PATIENCE)
}

/// The smallest program that fails like this program, and how.
fn smallest(runners: &mut Runners, program: &Program, failure: &Failure) -> String {
    let soon = match failure {
        Failure::Differs(_) => PATIENCE,
        _ => Duration::from_millis(300),
    };
    let small = shrink::shrink(program.clone(), |program| {
        let now = runners.compare(program, soon);
        now.is_err_and(|now| now.is_like(failure))
    });
    match runners.compare(&small, PATIENCE) {
        Ok(_) => format!("{program}{failure}"),
        Err(failure) => format!("{small}{failure}"),
    }
}

/// Without a rule, programs would fail that do another thing than with tokio.
#[test]
fn each_rule_is_needed() {
    let mut runners = Runners::new();
    let programs = (0..1000).map(generate::program);
    // By hand, timers of another driver are tokio's by some rule only.
    let programs = programs.filter(|program| program.style != Style::Hand);
    let applied = programs.filter_map(|program| runners.compare(&program, PATIENCE).ok());
    let applied: Vec<_> = applied.collect();
    for rule in [GOES_ON, LOOKS] {
        assert!(applied.iter().any(|rules| rules & rule != 0), "{rule}");
    }
}

#[test]
fn a_program_that_does_not_end_is_told_to_stop_and_then_left_behind() {
    let program = generate::program(0);
    let soon = Duration::from_millis(50);
    let mut waits = Runner::new(|_| futures::executor::block_on(Stop::of_this_thread().wait()));
    assert_eq!(waits.run(&program, soon), Outcome::Stopped);
    let mut hangs = Runner::new(|_| {
        loop {
            std::thread::park();
        }
    });
    assert_eq!(hangs.run(&program, soon), Outcome::<()>::Hangs);
}

/// A program that does another thing by a rule is made small: a fault would be.
#[test]
fn what_makes_a_difference_is_all_that_is_left_of_a_program() {
    let mut runners = Runners::new();
    let mut programs = (0..1000).map(generate::program);
    let program = programs.find(|program| runners.matters(program, GOES_ON));
    let program = program.expect("some program needs it");
    let small = shrink::shrink(program, |program| runners.matters(program, GOES_ON));
    assert!(shrink::size(&small) <= 8, "{small}");
}
