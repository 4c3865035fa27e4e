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

use self::compare::{HANGS, compare, watched};
use self::rules::{GOES_ON, LOOKS};
use crate::random::program::{Program, Style};
use crate::random::{number, seeds};

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
            println!("enough seen, no more than {seed} seeds");
            break;
        }
    }
    for (seed, program, failure) in failed.iter().take(number("SHOW", 5) as usize) {
        let small = smallest(program, failure);
        println!("\nseed {seed}: {small}");
    }
    let seeds: Vec<_> = failed.iter().map(|(seed, ..)| seed).collect();
    assert!(seeds.is_empty(), "{} are different: {seeds:?}", seeds.len());
}

/// On a busy machine threads that were left behind may come in between; a fault stays.
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

/// Without a rule, programs would fail that do another thing than with tokio.
#[test]
fn each_rule_is_needed() {
    let programs = (0..1000).map(generate::program);
    // By hand, timers of another driver are tokio's by some rule only.
    let programs = programs.filter(|program| program.style != Style::Hand);
    let applied = programs.filter_map(|program| compare(&program).ok());
    let applied: Vec<_> = applied.collect();
    for rule in [GOES_ON, LOOKS] {
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
