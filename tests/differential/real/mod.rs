//! In real time, on multi-thread runtimes, whose workers have timers of their own: there the driver
//! finds which thread is a worker of which runtime, and takes that path from then on.
//!
//! | file | idea |
//! | --- | --- |
//! | `mod.rs` | batches of seeds side by side; differences, and early timers |
//! | `program.rs` | the parts of a program, and a program from a seed |
//! | `run.rs` | the interpreter |
//!
//! The machine decides how long anything takes. So no program depends on that: a race is always
//! between a wait that is over soon and a wait of an hour. Compared are the events of each task, in the
//! task's own order, which tokio promises and so do we. Besides, nothing is early, and every program
//! ends.
//!
//! `SEED=7 SEEDS=1 cargo test --test differential real -- --nocapture` runs a single program.

mod program;
mod run;

use support::prelude::*;

use std::collections::BTreeMap;
use std::ops::Range;

use crate::seeds;
use program::Program;
use run::{Outcome, World};
use support::time::{Ours, Time, Tokio};

/// Programs that run side by side, so that workers are busy and tasks move.
const BATCH: u64 = 50;
/// A batch takes a fraction of a second. With a machine that has much else to do, some.
const PATIENCE: Duration = Duration::from_secs(120);

/// The outcome of each program, by seed.
fn batch<T: Time>(seeds: Range<u64>) -> (BTreeMap<u64, Outcome>, World<T>) {
    within(PATIENCE, move || {
        let world = World::<T>::new();
        let programs = seeds.map(|seed| (seed, Program::new(seed)));
        let outcomes = run::side_by_side(&world, programs.collect());
        (outcomes, world)
    })
}

#[test]
fn programs_on_workers_do_what_they_do_with_tokio() {
    let mut failed = Vec::new();
    let (mut proved, mut probes) = (0, 0);
    let all = seeds(1000);
    for first in all.clone().step_by(BATCH as usize) {
        let seeds = first..all.end.min(first + BATCH);
        let (theirs, _) = batch::<Tokio>(seeds.clone());
        let (ours, world) = batch::<Ours>(seeds);
        proved += world.shared.proved.load(Ordering::Relaxed);
        probes += world.shared.probes.load(Ordering::Relaxed);
        for (seed, ours) in ours {
            let theirs = &theirs[&seed];
            if *theirs != ours {
                let program = Program::new(seed);
                let difference = theirs.difference(&ours);
                failed.push(format!("seed {seed}:\n{program}{difference}"));
            }
        }
    }
    println!("{proved} of {probes} probes found the timer to be the worker's, by the proved path");
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(probes > 0, "no program asks whose a timer is");
    let some = proved * 10 > probes;
    assert!(some, "the proved path was taken {proved} of {probes} times");
}

/// Outcomes can be told apart: programs have all kinds of events.
#[test]
fn programs_come_to_all_that_can_be_told() {
    let (outcomes, _) = batch::<Tokio>(0..BATCH);
    let said: Vec<_> = outcomes.values().flat_map(Outcome::lines).collect();
    let said = said.join("\n");
    let all = "slept, in time, elapsed, tick, branch 0, all done, reset, joined, was cancelled, \
        cancelled timers, awaited elsewhere, in place, blocking";
    for what in all.split(", ") {
        assert!(said.contains(what), "no program says: {what}");
    }
    assert!(!said.contains("early"), "{said}");
}
