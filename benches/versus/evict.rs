//! Fills a processor's caches with something else.

use std::fs;
use std::hint::black_box;

/// Lines to be read, and code to be run, in place of what the caches hold.
pub(crate) struct Caches {
    lines: Vec<Line>,
}

#[derive(Clone)]
#[repr(align(64))]
struct Line(u64);

impl Caches {
    /// The first level and the second; what they held is left in the third, where there is one.
    pub(crate) fn second_level() -> Self {
        Self::holding(2 * size(2).unwrap_or(1 << 20))
    }

    /// Every level, and with so much memory the translations of addresses as well.
    pub(crate) fn all() -> Self {
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
    pub(crate) fn evict(&mut self) {
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
