//! Programs in virtual time on current-thread runtimes. They finish the same operations in the same way, and at the same
//! time by the runtime's clock, except where a documented rule allows a difference.
//!
//! | file | contents |
//! | --- | --- |
//! | `mod.rs` | runs thousands of seeds, makes the programs that differ small, and prints them |
//! | `generate.rs` | generates a program from a seed |
//! | `thread.rs` | the interpreter of the thread's steps, which drives the runtimes |
//! | `hand.rs`, `by_hand.rs` | timers that are polled by hand, with wakers that are watched |
//! | `coarse.rs` | a driver with a configured tick |
//! | `clocks.rs` | runtimes with paused clocks that agree |
//! | `rules.rs` | Tokio's timers, changed by the documented rules, each of which is a constant |
//! | `compare.rs` | finds the rules by which two runs are the same |
//! | `shrink.rs` | makes a failing program smaller |
//!
//! `SEED=464 SEEDS=1 cargo test --all-features --test as_tokio programs -- --nocapture` runs
//! a single program. `SHOW` is the number of failed programs that are made small and printed, and `FAILURES`
//! the number after which the test stops.

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

use self::compare::{HANGS, compare, watched};
use self::rules::{CONTINUES, LATE_IS_READY};
use crate::random::program::{Program, Style};
use crate::random::seeds;

#[test]
fn programs_do_what_they_do_with_tokio() {
    install_hook();
    let mut failed = Vec::new();
    for seed in seeds(10_000) {
        let program = generate::program(seed);
        if let Err(failure) = compare_patiently(&program) {
            failed.push((seed, program, failure));
        }
        if failed.len() as u64 == number("FAILURES", 20) {
            println!("stopped at seed {seed}");
            break;
        }
    }
    for (seed, program, failure) in failed.iter().take(number("SHOW", 5) as usize) {
        let small = smallest(program, failure);
        println!("\nseed {seed}: {small}");
    }
    let seeds: Vec<_> = failed.iter().map(|(seed, ..)| seed).collect();
    assert!(seeds.is_empty(), "{} differ: {seeds:?}", seeds.len());
}

/// Compares up to five times. On a busy machine, threads that were left behind may disturb a run; a real fault shows
/// every time.
fn compare_patiently(program: &Program) -> Result<u8, String> {
    let patiently = (0..4).find_map(|_| compare(program).ok());
    patiently.map_or_else(|| compare(program), Ok)
}

/// Returns the smallest program that fails, and how. A program that does not end is not made smaller,
/// because each attempt would leave a thread behind.
fn smallest(program: &Program, failure: &str) -> String {
    if failure == HANGS {
        return format!("{program}{failure}");
    }
    let differs = |program: &Program| compare(program).is_err_and(|how| how != HANGS);
    let small = shrink::shrink(program.clone(), differs);
    match compare(&small) {
        Ok(_) => format!("{program}{failure}"),
        Err(failure) => format!("{small}{failure}"),
    }
}

/// Some programs differ from Tokio's unless the rule is applied.
#[test]
fn each_rule_is_needed() {
    let programs = (0..1000).map(generate::program);
    // In programs by hand, the rules also apply to timers of the driver with a configured tick.
    let programs = programs.filter(|program| program.style != Style::Hand);
    let applied = programs.filter_map(|program| compare(&program).ok());
    let applied: Vec<_> = applied.collect();
    for rule in [CONTINUES, LATE_IS_READY] {
        assert!(applied.iter().any(|rules| rules & rule != 0), "{rule}");
    }
}

#[test]
fn a_program_that_does_not_end_is_left_behind() {
    let park = |_: &Program| -> () {
        loop {
            std::thread::park();
        }
    };
    assert_eq!(watched(park, &generate::program(0)), None);
}
