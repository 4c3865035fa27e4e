//! Measures arming and cancelling while the caches hold other data, as they do between two timers of a service.

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
use crate::benchmark::{Measured, Value};
use crate::stage::{DELAYS, Stage, delays};

/// Measures the median of single operations. Each is timed alone, so that an interruption of one of them does not count.
pub(crate) fn cold<T: Timers>() -> Measured {
    const SECOND_LEVEL: usize = 1000;
    const ALL_LEVELS: usize = 100;
    // Evicts the first level and the second. What they held stays in the third, if there is one.
    let second_level = 2 * size(2).unwrap_or(1 << 20);
    // Evicts every level and, with that much memory, the translations of addresses as well.
    let all_levels = (2..=4).rev().find_map(size).unwrap_or(32 << 20) * 3 / 2;
    let costs = Stage::new::<T>(1).run(unconstrained(async move {
        let second_level = operations::<T>(second_level, SECOND_LEVEL).await;
        [second_level, operations::<T>(all_levels, ALL_LEVELS).await]
    }));
    let [second, all] = costs;
    let values = [
        Value::nanos("second level evicted", second),
        Value::nanos("all levels evicted", all),
    ];
    Measured::cancelled(values, SECOND_LEVEL + ALL_LEVELS)
}

/// Returns nanoseconds. The task yields in between, so that the runtime does its own work outside of the operations.
async fn operations<T: Timers>(bytes: usize, count: usize) -> f64 {
    let mut memory = vec![black_box(1); bytes / size_of::<u64>()];
    let delays = delays();
    let mut times = Vec::with_capacity(count);
    for index in 0..count {
        yield_now().await;
        let after = delays[index % DELAYS];
        evict(&mut memory);
        // The first reading of the clock fetches the clock's code and data.
        let operation = on_task(|cx| {
            let begin = Instant::now();
            arm(pin!(T::sleep(after)), cx);
            begin.elapsed()
        });
        times.push(operation.await.as_nanos() as f64);
    }
    median(&times)
}

/// Reads lines and runs code, which replace what the caches hold. The second level holds code and data; the first level's half
/// for code is replaced only by running code, some 290 KiB of it.
fn evict(memory: &mut [u64]) {
    for word in memory.iter_mut().step_by(64 / size_of::<u64>()) {
        *word = word.wrapping_add(1);
    }
    black_box(memory);
    black_box(Arguments::command().render_help());
}

/// Returns the size in bytes of this level's cache for data, if the system reports it.
fn size(level: usize) -> Option<usize> {
    let caches = fs::read_dir("/sys/devices/system/cpu/cpu0/cache").ok()?;
    caches.flatten().find_map(|cache| {
        let read = |name| fs::read_to_string(cache.path().join(name)).ok();
        let is_level = read("level")?.trim().parse() == Ok(level);
        let kilobytes: usize = read("size")?.trim().strip_suffix('K')?.parse().ok()?;
        is_level.then_some(kilobytes << 10)
    })
}
