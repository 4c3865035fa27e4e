//! Measures what a peak leaves behind: the resident memory after ten million timers were armed and nearly all of them dropped.
//!
//! Each implementation runs in a process of its own, so that none uses memory that another has freed. glibc's allocator
//! returns every free page before the memory is read, so what stays is what the remaining timers keep in use, and the
//! rest of the process.

use std::env;
use std::process::Command;
use std::thread;
use std::time::Duration;

use common::process::{numbers, resident};
use common::table::Unit;
use common::thousands;
use timers::expiry::Sleeps;
use timers::{Alt, Timers, Tokio, Wheel};
use tokio::time::Instant;

use crate::benchmark::{Measured, Value};
use crate::stage::{Stage, crowd};

const TIMERS: usize = 10_000_000;
/// A duration after which no timer is due during the measurement.
const FAR: Duration = Duration::from_secs(3600);
/// The time that a driver gets for work that it defers.
const SETTLE: Duration = Duration::from_millis(200);

/// One timer in 2,048 is kept, or one in 200.
pub(crate) fn peak<T: Timers>() -> Measured {
    let left = [2048, 200].map(|one_in| {
        let bytes = in_a_process(T::NAME, one_in);
        Value::new(
            format!("1 in {} is kept", thousands(one_in as u64)),
            bytes,
            Unit::Bytes,
        )
    });
    Measured::cancelled(left, TIMERS)
}

/// Runs [`alone`] in a process of this program.
fn in_a_process(name: &str, one_in: usize) -> f64 {
    let program = env::current_exe().expect("this program");
    let one_in = one_in.to_string();
    let printed = numbers(Command::new(program).args(["--peak", name, &one_in]));
    printed.expect("a process")[0]
}

/// Returns the bytes that stay resident in this process.
pub(crate) fn alone(name: &str, one_in: usize) -> u64 {
    match name {
        Tokio::NAME => left::<Tokio>(one_in),
        Alt::NAME => left::<Alt>(one_in),
        Wheel::NAME => left::<Wheel>(one_in),
        _ => panic!("unknown implementation: {name}"),
    }
}

fn left<T: Timers>(one_in: usize) -> u64 {
    let stage = Stage::new::<T>(1);
    let some = stage.on_worker(move |cx| {
        let all = crowd::<T>(cx, TIMERS, Instant::now() + FAR, FAR);
        keep_some::<T>(all, one_in)
    });
    thread::sleep(SETTLE);
    allocator::give_back();
    let bytes = 1024 * resident().expect("Linux's status");
    assert_eq!(some.len(), TIMERS.div_ceil(one_in));
    bytes
}

/// Keeps one in `one_in`, and drops the others in the order of their creation.
fn keep_some<T: Timers>(all: Sleeps<T>, one_in: usize) -> Sleeps<T> {
    let mut some = Vec::with_capacity(TIMERS.div_ceil(one_in));
    some.extend(all.into_iter().step_by(one_in));
    some
}

mod allocator {
    #![allow(
        unsafe_code,
        reason = "nothing else makes glibc return pages between others that are in use"
    )]

    /// Returns free pages to the system, with glibc's allocator.
    pub(super) fn give_back() {
        #[cfg(target_env = "gnu")]
        malloc_trim(0);
    }

    // SAFETY: glibc declares it this way. It takes its own locks and may be called at any time.
    #[cfg(target_env = "gnu")]
    unsafe extern "C" {
        safe fn malloc_trim(pad: usize) -> i32;
    }
}
