#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| support::queue_model::run(bytes, 300));
