//! The public wheel beside the naive model of `tests/support`; every invariant is checked after each
//! step. The fuzzer runs the same model from outside, where there is less to check.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "others use more of it, from outside"
)]

// Not from the crate `support`: that crate is built against another build of the wheel.
#[path = "../../tests/support/bytes.rs"]
mod bytes;
#[path = "../../tests/support/choices.rs"]
mod choices;
#[path = "../../tests/support/wheel_model.rs"]
mod wheel_model;

use choices::{Choices, Random};
use wheel_model::{CLOCKS, SLOTS};

use super::TimingWheel;
use crate::wheel as timing_wheel;

fn check<T, const SLOTS: usize>(wheel: &TimingWheel<T, SLOTS>) {
    wheel.core.check();
}

/// Of 64 powers of two, a distance mostly gets small ones: timers that meet.
struct Near(Random);

impl Choices for Near {
    fn below(&mut self, end: u64) -> u64 {
        let near = end == 64 && self.0.below(8) > 0;
        self.0.below(if near { 15 } else { end })
    }
}

#[test]
fn every_invariant_holds_after_each_step() {
    for seed in 0..200 {
        wheel_model::run_chosen(&mut Random::new(seed), 60);
        wheel_model::run_chosen(&mut Near(Random::new(seed)), 60);
    }
}

/// Every kind of wheel at every clock.
#[test]
fn does_as_the_model_does_from_every_clock() {
    let mut near = Near(Random::new(1));
    for round in 0..4 * SLOTS.len() * CLOCKS.len() {
        let slots = SLOTS[round % SLOTS.len()];
        let clock = CLOCKS[round / SLOTS.len() % CLOCKS.len()];
        wheel_model::run(slots, clock, &mut near, 50);
    }
}

#[test]
fn every_invariant_holds_on_what_a_fuzzer_has_found() {
    let corpus = include_str!("../../tests/fuzz/timing_wheel.hex");
    assert!(corpus.lines().count() > 100, "this is not the corpus");
    for input in corpus.lines() {
        bytes::timing_wheel(&bytes::decoded(input));
    }
}
