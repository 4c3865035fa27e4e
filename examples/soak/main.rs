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

mod growth;

use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use common::println;

use growth::Growth;
use support::storm::{Size, Storm};

/// A storm of timers, checked every second.
#[derive(Debug, Parser)]
struct Options {
    /// How long it lasts.
    #[arg(long, value_name = "N", default_value = "1", value_parser = minutes)]
    minutes: Duration,
    /// Threads that handle timers, beside those of the runtimes.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=1000))]
    threads: u16,
    /// Timers that each of them holds at most.
    #[arg(long, default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    held: u32,
    /// What random numbers begin with.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// A runtime that stays, with more workers than there are processors, and others that do not.
const WORKERS: &[usize] = &[8, 2, 0, 1];

/// A year at most.
fn minutes(text: &str) -> Result<Duration, String> {
    let minutes = text
        .parse()
        .ok()
        .filter(|minutes| (0.0..=525_600.0).contains(minutes));
    let length = minutes.map(|minutes: f64| Duration::from_secs_f64(minutes * 60.0));
    length.ok_or("a number from 0 to 525600, such as 0.5".into())
}

fn main() -> ExitCode {
    let options = Options::parse();
    let failures = weather(&options, options.minutes);
    for failure in &failures {
        eprintln!("FAILED: {failure}");
    }
    if failures.is_empty() {
        println!("nothing lost");
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn weather(options: &Options, length: Duration) -> Vec<String> {
    let size = Size {
        hands: options.threads.into(),
        held: options.held as usize,
        tenants: 8,
        workers: WORKERS,
    };
    let begin = Instant::now();
    let storm = Storm::begin(options.seed, size);
    let mut growth = Growth::new(length);
    while begin.elapsed() < length && storm.counts().failures().is_empty() {
        thread::sleep(Duration::from_secs(1));
        storm.muster();
        growth.look(begin.elapsed());
        report(&storm, &growth, begin.elapsed());
    }
    let mut failures = storm.end();
    failures.extend(growth.verdict());
    failures
}

fn report(storm: &Storm, growth: &Growth, elapsed: Duration) {
    println!(
        "{:5} s  {:4} MiB  {}  {}",
        elapsed.as_secs(),
        growth.mebibytes(),
        storm.counts().take_lateness(),
        storm.counts(),
    );
}
