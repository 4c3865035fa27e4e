//! Arming and cancelling where the caches hold something else, as they do between two timers of a service.

use std::fs;
use std::hint::black_box;
use std::pin::pin;
use std::task::Context;
use std::time::{Duration, Instant};

use common::median;
use timers::{arm, on_task};
use tokio::task::coop::unconstrained;
use tokio::task::yield_now;

use crate::figure::Measured;
use crate::peer::Peer;
use crate::stage::{Delays, Stage};

/// The median of single operations, each timed alone: what interrupts one of them does not count.
pub(crate) fn cold<P: Peer>() -> Measured {
    const SECOND_LEVEL: usize = 1000;
    const ALL_LEVELS: usize = 100;
    let costs = Stage::new::<P>(1).run(unconstrained(async {
        let second_level = operations::<P>(Caches::second_level(), SECOND_LEVEL).await;
        [
            second_level,
            operations::<P>(Caches::all(), ALL_LEVELS).await,
        ]
    }));
    Measured::cancelled(costs, SECOND_LEVEL + ALL_LEVELS)
}

/// Nanoseconds. The task yields in between, so that the runtime never has to catch up within an operation.
async fn operations<P: Peer>(mut caches: Caches, count: usize) -> f64 {
    let delays = Delays::new();
    let mut times = Vec::with_capacity(count);
    for index in 0..count {
        yield_now().await;
        let after = delays.get(index);
        caches.evict();
        let time = on_task(|cx| arm_and_cancel::<P>(cx, after)).await;
        times.push(time.as_nanos() as f64);
    }
    median(&times)
}

/// The first reading of the clock fetches the clock's own code and data.
fn arm_and_cancel<P: Peer>(cx: &mut Context<'_>, after: Duration) -> Duration {
    let begin = Instant::now();
    arm(pin!(P::sleep(after)), cx);
    begin.elapsed()
}

/// Lines to be read, and code to be run, in place of what the caches hold.
struct Caches {
    lines: Vec<Line>,
}

#[derive(Clone)]
#[repr(align(64))]
struct Line(u64);

impl Caches {
    /// The first level and the second; what they held is left in the third, where there is one.
    fn second_level() -> Self {
        Self::holding(2 * size(2).unwrap_or(1 << 20))
    }

    /// Every level, and with so much memory the translations of addresses as well.
    fn all() -> Self {
        let last = (2..=4).rev().find_map(size).unwrap_or(32 << 20);
        Self::holding(last + last / 2)
    }

    fn holding(bytes: usize) -> Self {
        let line = Line(black_box(1));
        Self {
            lines: vec![line; bytes / size_of::<Line>()],
        }
    }

    /// The second level has both code and data; the first level's half for code is filled by code only.
    fn evict(&mut self) {
        for line in &mut self.lines {
            line.0 = line.0.wrapping_add(1);
        }
        black_box(&mut self.lines);
        black_box(run_other_code(1));
    }
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

type Code = fn(u64) -> u64;

const COLUMNS: usize = 16;

/// Runs some hundred different functions, which are larger together than a first level.
fn run_other_code(seed: u64) -> u64 {
    macro_rules! rows {
        ($($row:literal)*) => { [$(row::<$row>()),*] };
    }
    let functions: [[Code; COLUMNS]; 32] = rows![
        0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
        16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
    ];
    let all = black_box(&functions).iter().flatten();
    all.fold(seed, |seed, code| code(seed))
}

fn row<const ROW: u64>() -> [Code; COLUMNS] {
    macro_rules! columns {
        ($($column:literal)*) => { [$(code::<ROW, $column>),*] };
    }
    columns![0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15]
}

/// Some two hundred bytes: each step has a constant of its own.
#[inline(never)]
fn code<const ROW: u64, const COLUMN: u64>(seed: u64) -> u64 {
    const fn constant(row: u64, column: u64, step: u64) -> u64 {
        (1 + row * 4096 + column * 64 + step).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1
    }
    (0..6).fold(seed, |value, step| {
        let (mix, factor) = (2 * step, 2 * step + 1);
        let mixed = value.rotate_left(7) ^ constant(ROW, COLUMN, mix);
        mixed.wrapping_mul(constant(ROW, COLUMN, factor))
    })
}
