//! Random programs. Each runs with `tokio::time` and with this crate, and finishes the same operations in the same way.
//!
//! | file | contents |
//! | --- | --- |
//! | `program.rs` | the parts of a program: contexts, runtimes that end, tasks, timers |
//! | `task.rs` | the interpreter of tasks, on Tokio's timers or on these |
//! | `shelf.rs` | timers that tasks and threads share |
//! | `world.rs` | shared state; clocks; a millisecond for each task |
//! | `trace.rs` | finished operations, as they are compared |
//! | `paused/` | programs in virtual time, to the millisecond, on current-thread runtimes (feature `test-util`) |
//! | `real/` | programs in real time, never early, on multi-thread runtimes |
#![cfg_attr(
    not(feature = "test-util"),
    allow(dead_code, reason = "only programs in virtual time use it")
)]

#[cfg(feature = "test-util")]
mod paused;
mod program;
mod real;
mod shelf;
mod task;
mod trace;
mod world;

use support::prelude::*;

/// Returns the seeds from 0 to `count`, unless the variables `SEED` and `SEEDS` select others.
fn seeds(count: u64) -> Range<u64> {
    let first = number("SEED", 0);
    first..first + number("SEEDS", count)
}

/// Installs a driver of high resolution in a runtime, if this platform and these features have one.
fn be_precise(_runtime: &Handle) {
    #[cfg(all(feature = "high-resolution", target_os = "linux"))]
    inside(_runtime, || {
        let precise = wheel::Builder::new().high_resolution(true);
        precise.install().unwrap();
    });
}
