//! A storm of timers for as long as you like: the stress test's, over and over.
//!
//! Threads arm, poll, move, pass on and drop timers of runtimes that come and go, with wakers that
//! panic, block, and do the same to other timers. Once a second all hold still, and every driver is
//! compared with what should be pending. It fails, and says why, when
//!
//! * a timer is ready or wakes early, more than once, or not at all;
//! * armed = fired + cancelled + ended + pending does not hold, or a driver has more or fewer
//!   pending than that; in the end nothing may be left, not even a waker;
//! * memory grows.
//!
//! `cargo run --release -p soak -- --minutes 10`

use std::process::exit;
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use common::println;
use support::resident_kib;
use support::storm::{Size, Storm};

/// A storm of timers, checked every second.
#[derive(Debug, Parser)]
struct Options {
    /// How long it lasts; a year at most.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(..=525_600))]
    minutes: u32,
}

const SIZE: Size = Size {
    hands: 4,
    held: 50_000,
    // A runtime that stays, with more workers than there are processors, and others that do not.
    workers: &[8, 2, 0, 1],
};
/// What may be added to what was once needed: runs are random, and allocators keep some.
const ALLOWANCE_KIB: u64 = 64 * 1024;

fn main() {
    let options = Options::parse();
    let failures = weather(options.minutes * Duration::from_secs(60));
    for failure in &failures {
        eprintln!("FAILED: {failure}");
    }
    if !failures.is_empty() {
        exit(1);
    }
    println!("nothing lost");
}

fn weather(length: Duration) -> Vec<String> {
    let begin = Instant::now();
    let storm = Storm::begin(1, SIZE);
    // Nothing is found where the system does not tell.
    let (mut then, mut now) = (0, 0);
    while begin.elapsed() < length && storm.counts().failures().is_empty() {
        thread::sleep(Duration::from_secs(1));
        storm.muster();
        now = resident_kib().unwrap_or(0);
        if begin.elapsed() < length / 2 {
            then = now.max(then);
        }
        let (seconds, mebibytes) = (begin.elapsed().as_secs(), now / 1024);
        println!("{seconds:5} s  {mebibytes:4} MiB  {}", storm.counts());
    }
    let mut failures = storm.end();
    // The first half of a run shows how much memory it needs; the second may need a quarter more.
    if then > 0 && now > then * 5 / 4 + ALLOWANCE_KIB {
        failures.push(format!(
            "{now} KiB in the end, {then} KiB at most in the first half"
        ));
    }
    failures
}
