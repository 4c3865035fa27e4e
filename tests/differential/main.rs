//! Random programs, each run with `tokio::time` and with this crate, finish the same operations in the
//! same way.
//!
//! | folder | where |
//! | --- | --- |
//! | `paused/` | in virtual time, to the millisecond, on current-thread runtimes (feature `test-util`) |
//! | `real/` | in real time, never early, on multi-thread runtimes |

#[cfg(feature = "test-util")]
mod paused;
mod real;

use std::env;
use std::fmt::Display;
use std::ops::Range;

use support::Random;

/// A variable's number, or else the default.
fn number(variable: &str, default: u64) -> u64 {
    env::var(variable).map_or(default, |value| value.parse().expect("a number"))
}

/// So many seeds from 0, unless variables say otherwise.
fn seeds(count: u64) -> Range<u64> {
    let first = number("SEED", 0);
    first..first + number("SEEDS", count)
}

fn random(seed: u64) -> Random {
    let mut random = Random::new(seed.wrapping_add(1));
    // The first numbers of neighbours are alike.
    for _ in 0..8 {
        random.number();
    }
    random
}

/// The events that the two runs do not share.
fn difference<E: Display + PartialEq>(theirs: &[E], ours: &[E]) -> String {
    let only = |mark, one: &[E], other: &[E]| {
        let missing = one.iter().filter(|event| !other.contains(event));
        let lines = missing.map(|event| format!("{mark} {event}\n"));
        lines.collect::<String>()
    };
    only("tokio", theirs, ours) + &only("wheel", ours, theirs)
}
