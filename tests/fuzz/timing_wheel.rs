#![no_main]

use arbitrary::Unstructured;
use wheel::timing_wheel::{Key, Progress, Rescheduled, TimingWheel};

#[allow(dead_code, reason = "the unit tests use more of it")]
#[path = "../../src/timing_wheel/model/pair.rs"]
mod pair;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pair::run_chosen(&mut Unstructured::new(bytes), 300));
