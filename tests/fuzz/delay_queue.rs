#![no_main]

#[path = "../support/delay_queue_model.rs"]
mod delay_queue_model;
mod harness;
#[path = "../support/mod.rs"]
mod support;
#[path = "../support/wheel_model.rs"]
mod wheel_model;

use wheel::timing_wheel;

/// Inside the crate the same model looks at every invariant: see `src/wheel/model.rs`.
fn check<T, const SLOTS: usize>(_: &timing_wheel::TimingWheel<T, SLOTS>) {}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| delay_queue_model::run(harness::Bytes(bytes), harness::MOST));
