//! What a coverage-guided fuzzer has found worth keeping, run again on the stable toolchain.
//!
//! `cargo test` runs this file; the targets beside it are a package of their own, for
//! [cargo-fuzz](https://github.com/rust-fuzz/cargo-fuzz) on any toolchain with a C++ compiler:
//!
//! ```sh
//! fuzz() { cargo fuzz "$1" --fuzz-dir tests/fuzz --target-dir target/fuzz --sanitizer none "${@:2}"; }
//! for target in timing_wheel delay_queue; do
//!     corpus=tests/fuzz/corpus/$target least=target/fuzz/$target
//!     mkdir -p $corpus $least
//!     fuzz run $target -- -max_len=1600 -len_control=0 -max_total_time=1800
//!     find $corpus -type f -size +300c -delete
//!     fuzz run $target $corpus -- -set_cover_merge=1 $PWD/$least
//!     for input in $least/*; do
//!         od -An -v -tx1 "$input" | tr -d ' \n'; echo
//!     done | sort > tests/fuzz/$target.hex
//! done
//! ```
//!
//! A `.hex` file has one input per line. `harness.rs` makes a run of a model of each, the same
//! models that `tests/wheel_model.rs` and `tests/delay_queue_model.rs` run with random numbers. An
//! input that fails is added as one more line, with the fix.

#[cfg(feature = "test-util")]
#[path = "../support/delay_queue_model.rs"]
mod delay_queue_model;
mod harness;
#[path = "../support/mod.rs"]
mod support;
#[path = "../support/wheel_model.rs"]
mod wheel_model;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use wheel::timing_wheel;

/// Inside the crate the same model looks at every invariant: see `src/wheel/model.rs`.
fn check<T, const SLOTS: usize>(_: &timing_wheel::TimingWheel<T, SLOTS>) {}

#[test]
fn the_wheel_holds_on_what_was_found() {
    replay(include_str!("timing_wheel.hex"), harness::timing_wheel);
}

#[cfg(feature = "test-util")]
#[test]
fn the_queue_holds_on_what_was_found() {
    replay(include_str!("delay_queue.hex"), |bytes| {
        delay_queue_model::run(harness::Bytes(bytes), harness::MOST)
    });
}

fn replay(corpus: &str, run: fn(&[u8])) {
    assert!(corpus.lines().count() > 100, "this is not the corpus");
    for (index, input) in corpus.lines().enumerate() {
        let bytes = bytes(input);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| run(&bytes))) {
            eprintln!("with the input of line {}: {input}", index + 1);
            resume_unwind(panic);
        }
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2).map(std::str::from_utf8);
    digits
        .map(|pair| u8::from_str_radix(pair.expect("ASCII"), 16).expect("two digits"))
        .collect()
}
