//! In storms on real threads, no timer is lost and none leaks, while runtimes begin and end.
//!
//! `STORM_SECONDS=600 cargo test --release --test stress storms -- --nocapture` runs the storms for ten minutes.

use support::prelude::*;

use support::storm::Storm;

/// How much the memory may grow, because runs are random, and allocators keep some of it.
const ALLOWANCE_KIB: u64 = 64 * 1024;

fn weather(hands: usize, held: usize, workers: &'static [usize], seconds: u64) {
    let failures = within(secs(600 + 2 * seconds), move || {
        let storm = Storm::begin(seconds, hands, held, workers);
        // The first half of the storm shows how much memory it needs.
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
            failures.push(format!("{now} KiB in the end, {then} KiB before"));
        }
        failures
    });
    assert!(failures.is_empty(), "{workers:?}: {failures:#?}");
}

/// One storm runs at a time, so each has the machine for itself.
#[test]
fn nothing_is_lost_in_storms() {
    let _machine = crate::alone();
    // All storms take this long together.
    let quarter = number("STORM_SECONDS", 20).div_ceil(4);
    weather(4, 20_000, &[8, 2, 0], 2 * quarter);
    // Here, the threads that arm, cancel and reset timers are not the only thread of the timers' runtime.
    weather(3, 2000, &[0, 1, 0], quarter);
    // Here, runtimes begin and end as often as they can, and each thread holds few timers.
    weather(2, 50, &[1, 2, 4, 0, 0], quarter);
}
