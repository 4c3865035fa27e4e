//! The public wheel beside the naive model of `tests/support`, with a look at every invariant after
//! each step. The file `tests/data/wheel_model.rs` runs the same model from outside.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "others use more of it, from outside"
)]

// Not the crate `support`: the wheel that it knows is another than this one.
#[path = "../../tests/support/bytes.rs"]
mod bytes;
#[path = "../../tests/support/choices.rs"]
mod choices;
#[path = "../../tests/support/wheel_model.rs"]
mod wheel_model;

use choices::Random;

use super::TimingWheel;
use crate::timing_wheel;

fn check<T, const SLOTS: usize>(wheel: &TimingWheel<T, SLOTS>) {
    wheel.core.check();
}

#[test]
fn every_invariant_holds_after_each_step() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        wheel_model::run_chosen(&mut random, 60);
    }
}

#[test]
fn every_invariant_holds_on_what_a_fuzzer_has_found() {
    for input in include_str!("../../tests/fuzz/timing_wheel.hex").lines() {
        let digits = input.as_bytes().chunks(2).map(std::str::from_utf8);
        let input = digits.map(|pair| u8::from_str_radix(pair.unwrap(), 16).unwrap());
        bytes::timing_wheel(&input.collect::<Vec<u8>>());
    }
}
