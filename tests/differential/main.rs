//! Random programs, each run with `tokio::time` and with this crate: what has finished, and how, is
//! the same.
//!
//! | folder | where |
//! | --- | --- |
//! | `paused/` | in virtual time, to the millisecond, on current-thread runtimes (feature `test-util`) |
//! | `real/` | in real time, never early, on multi-thread runtimes |
//!
//! `time.rs` has the functions under comparison.

#[cfg(feature = "test-util")]
mod paused;
mod real;
mod time;

use std::env;

/// What a variable says, or else the default.
fn number(variable: &str, default: u64) -> u64 {
    env::var(variable).map_or(default, |value| value.parse().expect("a number"))
}
