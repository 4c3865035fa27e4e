//! Arming and cancelling where the caches hold something else, as they do between two timers of a service.

use std::fs;
use std::hint::black_box;
use std::pin::pin;
use std::time::Instant;

use clap::CommandFactory as _;
use common::median;
use timers::{Timers, arm, on_task};
use tokio::task::coop::unconstrained;
use tokio::task::yield_now;

use crate::Arguments;
use crate::figure::Measured;
use crate::stage::{DELAYS, Stage, delays};

/// The median of single operations, each timed alone: what interrupts one of them does not count.
pub(crate) fn cold<T: Timers>() -> Measured {
    const SECOND_LEVEL: usize = 1000;
    const ALL_LEVELS: usize = 100;
    // The first level and the second; what they held is left in the third, where there is one.
    let second_level = 2 * size(2).unwrap_or(1 << 20);
    // Every level, and with so much memory the translations of addresses as well.
    let all_levels = (2..=4).rev().find_map(size).unwrap_or(32 << 20) * 3 / 2;
    let costs = Stage::new::<T>(1).run(unconstrained(async move {
        let second_level = operations::<T>(second_level, SECOND_LEVEL).await;
        [second_level, operations::<T>(all_levels, ALL_LEVELS).await]
    }));
    Measured::cancelled(costs, SECOND_LEVEL + ALL_LEVELS)
}

/// Nanoseconds. The task yields in between, so that the runtime never has to catch up within an operation.
async fn operations<T: Timers>(bytes: usize, count: usize) -> f64 {
    let mut memory = vec![black_box(1); bytes / size_of::<u64>()];
    let delays = delays();
    let mut times = Vec::with_capacity(count);
    for index in 0..count {
        yield_now().await;
        let after = delays[index % DELAYS];
        evict(&mut memory);
        // The first reading of the clock fetches the clock's own code and data.
        let operation = on_task(|cx| {
            let begin = Instant::now();
            arm(pin!(T::sleep(after)), cx);
            begin.elapsed()
        });
        times.push(operation.await.as_nanos() as f64);
    }
    median(&times)
}

/// Reads lines and runs code, in place of what the caches hold. The second level has both code and data; the first level's
/// half for code is filled by code only, some 290 KiB of it.
fn evict(memory: &mut [u64]) {
    for word in memory.iter_mut().step_by(64 / size_of::<u64>()) {
        *word = word.wrapping_add(1);
    }
    black_box(memory);
    black_box(Arguments::command().render_help());
}

/// Of the cache of this level that holds data, in bytes; `None` where the system does not tell.
fn size(level: usize) -> Option<usize> {
    let caches = fs::read_dir("/sys/devices/system/cpu/cpu0/cache").ok()?;
    caches.flatten().find_map(|cache| {
        let read = |name| fs::read_to_string(cache.path().join(name)).ok();
        let is_level = read("level")?.trim().parse() == Ok(level);
        let kilobytes: usize = read("size")?.trim().strip_suffix('K')?.parse().ok()?;
        is_level.then_some(kilobytes << 10)
    })
}
