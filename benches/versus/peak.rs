//! What a peak leaves behind: resident memory after ten million timers were armed and all but a few dropped.
//!
//! Each side runs in a process of its own, so none finds memory that another has freed. The allocator gives back every
//! page that is free before the look. What stays is what the timers that are left keep with them.

use std::env;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use common::process::resident;
use rand::Rng;
use timers::expiry::Sleeps;
use timers::{Timers, Tokio, Wheel};
use tokio::time::Instant;

use crate::figure::Measured;
use crate::stage::{Stage, armed, seeded};

const TIMERS: usize = 10_000_000;
/// None is due meanwhile.
const FAR: Duration = Duration::from_secs(3600);
/// For what a driver does later.
const SETTLE: Duration = Duration::from_millis(200);

/// With one in 2,048 kept, and with one in 200.
pub(crate) fn peak<T: Timers>() -> Measured {
    let left = [2048, 200].map(|one_in| in_a_process(T::NAME, one_in));
    Measured::cancelled(left, TIMERS)
}

/// Has this program run [`alone`].
fn in_a_process(side: &str, one_in: usize) -> f64 {
    let program = env::current_exe().expect("this program");
    let output = Command::new(program)
        .args(["--peak", side, &one_in.to_string()])
        .stderr(Stdio::inherit())
        .output()
        .expect("a process");
    assert!(output.status.success(), "{side}: {}", output.status);
    let bytes = String::from_utf8(output.stdout).expect("a number");
    bytes.trim().parse().expect("a number of bytes")
}

/// Bytes that are resident in this process in the end, on one side and with one timer in so many kept.
pub(crate) fn alone(side: &str, one_in: usize) -> u64 {
    match side {
        Tokio::NAME => left::<Tokio>(one_in),
        Wheel::NAME => left::<Wheel>(one_in),
        _ => panic!("no side is called {side}"),
    }
}

fn left<T: Timers>(one_in: usize) -> u64 {
    let stage = Stage::new::<T>(1);
    let some = stage.on_worker(move |cx| {
        let start = Instant::now() + FAR;
        let mut rng = seeded();
        let mut at = || start + rng.random_range(Duration::ZERO..FAR);
        let all: Sleeps<T> = (0..TIMERS).map(|_| armed::<T>(cx, at())).collect();
        keep_some::<T>(all, one_in)
    });
    thread::sleep(SETTLE);
    allocator::give_back();
    let bytes = 1024 * resident().expect("Linux's status");
    assert_eq!(some.len(), TIMERS.div_ceil(one_in));
    bytes
}

/// Drops the others in the order in which they were made.
fn keep_some<T: Timers>(all: Sleeps<T>, one_in: usize) -> Sleeps<T> {
    let mut some = Vec::with_capacity(TIMERS.div_ceil(one_in));
    for (index, sleep) in all.into_iter().enumerate() {
        if index % one_in == 0 {
            some.push(sleep);
        }
    }
    some
}

mod allocator {
    #![allow(
        unsafe_code,
        reason = "nothing else has glibc return pages between others that are in use"
    )]

    /// Returns free pages to the system. Other allocators than glibc's do as they do.
    pub(super) fn give_back() {
        #[cfg(target_env = "gnu")]
        malloc_trim(0);
    }

    // SAFETY: glibc declares it so. It takes its own locks, and may be called at any time.
    #[cfg(target_env = "gnu")]
    unsafe extern "C" {
        safe fn malloc_trim(pad: usize) -> i32;
    }
}
