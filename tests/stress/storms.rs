//! No timer is lost and none leaks in a storm on real threads, while runtimes come and go.
//!
//! `STORM_SECONDS=600 cargo test --release --test stress storms -- --nocapture` is a soak of ten minutes.

use support::prelude::*;

use std::env;

use support::storm::Storm;

/// What the memory may grow by: runs are random, and allocators keep some.
const ALLOWANCE_KIB: u64 = 64 * 1024;

/// How many seconds all storms last together.
fn seconds() -> u64 {
    env::var("STORM_SECONDS").map_or(20, |value| value.parse().expect("a number of seconds"))
}

fn weather(hands: usize, held: usize, workers: &'static [usize], seconds: u64) {
    let failures = within(secs(600 + 2 * seconds), move || {
        let storm = Storm::begin(seconds, hands, held, workers);
        // The first half shows how much memory a storm needs.
        let (mut then, mut now) = (0, 0);
        for second in 0..seconds {
            thread::sleep(secs(1));
            storm.muster();
            if !storm.counts().failures().is_empty() {
                break;
            }
            now = resident_kib().unwrap_or(0);
            if second < seconds / 2 {
                then = now.max(then);
            }
        }
        println!("{now} KiB, {:?}", storm.counts());
        let mut failures = storm.end();
        if now > then * 5 / 4 + ALLOWANCE_KIB {
            failures.push(format!("{now} KiB in the end, before {then} KiB"));
        }
        failures
    });
    assert!(failures.is_empty(), "{workers:?}: {failures:#?}");
}

/// A storm at a time: each has the machine for itself.
#[test]
fn nothing_is_lost_in_storms() {
    let _machine = crate::alone();
    let quarter = seconds().div_ceil(4);
    weather(4, 20_000, &[8, 2, 0], 2 * quarter);
    // Timers are armed, cancelled and reset outside of the only thread of their runtime.
    weather(3, 2000, &[0, 1, 0], quarter);
    // As many runtimes begin and end as can, and few timers are held across.
    weather(2, 50, &[1, 2, 4, 0, 0], quarter);
}
