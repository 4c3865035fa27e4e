//! No timer is lost and none leaks in a storm on real threads, while runtimes come and go.

use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use support::storm::{Size, Storm};
use support::{secs, within};

/// One storm at a time: each is to have the machine for itself.
static MACHINE: Mutex<()> = Mutex::new(());

fn weather(size: Size, seconds: u32) {
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let failures = within(secs(600), move || {
        let storm = Storm::begin(u64::from(seconds), size);
        for _ in 0..seconds {
            thread::sleep(Duration::from_secs(1));
            storm.muster();
            if !storm.counts().failures().is_empty() {
                break;
            }
        }
        println!("{}  {}", storm.counts().take_lateness(), storm.counts());
        storm.end()
    });
    assert!(failures.is_empty(), "{failures:#?}");
}

/// Eight workers on two cores, and more threads beside them.
#[test]
fn oversubscribed() {
    let size = Size {
        hands: 4,
        held: 20_000,
        tenants: 8,
        workers: &[8, 2, 0],
    };
    weather(size, 10);
}

/// Runtimes of one thread each: timers are armed, cancelled and reset elsewhere.
#[test]
fn one_thread_each() {
    let size = Size {
        hands: 3,
        held: 2000,
        tenants: 4,
        workers: &[0, 1, 0],
    };
    weather(size, 5);
}

/// As many runtimes begin and end as can, and few timers are held across.
#[test]
fn short_lives() {
    let size = Size {
        hands: 2,
        held: 50,
        tenants: 16,
        workers: &[1, 2, 4, 0, 0],
    };
    weather(size, 5);
}
