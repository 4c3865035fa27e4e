//! No timer is lost and none leaks in a storm on real threads, while runtimes come and go.

use support::prelude::*;

use support::storm::{Size, Storm};

fn weather(size: Size, seconds: u64) {
    let failures = within(secs(600), move || {
        let storm = Storm::begin(seconds, size);
        for _ in 0..seconds {
            thread::sleep(secs(1));
            storm.muster();
            if !storm.counts().failures().is_empty() {
                break;
            }
        }
        println!("{}", storm.counts());
        storm.end()
    });
    assert!(failures.is_empty(), "{size:?}: {failures:#?}");
}

/// A storm at a time: each has the machine for itself.
#[test]
fn nothing_is_lost_in_storms() {
    let _machine = crate::alone();
    let oversubscribed = Size {
        hands: 4,
        held: 20_000,
        workers: &[8, 2, 0],
    };
    // Timers are armed, cancelled and reset outside of the only thread of their runtime.
    let of_one_thread_each = Size {
        hands: 3,
        held: 2000,
        workers: &[0, 1, 0],
    };
    // As many runtimes begin and end as can, and few timers are held across.
    let of_short_lives = Size {
        hands: 2,
        held: 50,
        workers: &[1, 2, 4, 0, 0],
    };
    weather(oversubscribed, 10);
    weather(of_one_thread_each, 5);
    weather(of_short_lives, 5);
}
