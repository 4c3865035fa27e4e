#![no_main]

mod harness;
#[path = "../support/mod.rs"]
mod support;
#[path = "../support/wheel_model.rs"]
mod wheel_model;

use wheel::timing_wheel;

/// Inside the crate the same model looks at every invariant: see `src/wheel/model.rs`.
fn check<T, const SLOTS: usize>(_: &timing_wheel::TimingWheel<T, SLOTS>) {}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| harness::timing_wheel(bytes));
