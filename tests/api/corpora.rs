//! `DelayQueue` agrees with its model on inputs that a coverage-guided fuzzer has kept, on the stable
//! toolchain.
//!
//! The targets are `tests/fuzz`, a package of its own for
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
//! A `.hex` file has an input per line, from which `support::bytes` makes a run of a model. The
//! wheel's file is read by `src/wheel/model.rs`, which checks every invariant as well. An input that
//! fails is added as another line, with the fix.
#![cfg(feature = "test-util")]

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use support::{bytes, queue_model};

#[test]
fn the_queue_holds_on_what_was_found() {
    let corpus = include_str!("../fuzz/delay_queue.hex");
    assert!(corpus.lines().count() > 100, "this is not the corpus");
    for (index, input) in corpus.lines().enumerate() {
        let bytes = bytes::decoded(input);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| queue_model::run_bytes(&bytes))) {
            eprintln!("with the input of line {}: {input}", index + 1);
            resume_unwind(panic);
        }
    }
}
