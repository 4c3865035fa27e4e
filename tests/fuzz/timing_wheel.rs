#![no_main]

#[path = "../support/delay_queue_model.rs"]
mod delay_queue_model;
mod harness;
#[path = "../support/mod.rs"]
mod support;
#[path = "../support/wheel_model.rs"]
mod wheel_model;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| harness::timing_wheel(bytes));
