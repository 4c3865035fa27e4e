//! Measures the memory of a pending timer, with an allocator that counts. It counts per thread, so that threads share nothing.

#![allow(unsafe_code, reason = "an allocator needs it; the library does not")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::Duration;

use common::table::Unit;
use timers::Timers;
use tokio::time::Instant;

use crate::benchmark::{Measured, Value};
use crate::stage::{Stage, crowd};

thread_local! {
    static LIVE: Cell<i64> = const { Cell::new(0) };
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count(bytes: i64) {
    LIVE.set(LIVE.get() + bytes);
}

/// Returns the size of an allocation in glibc's heap: with a word of bookkeeping, rounded up to 16, and at least 32.
fn chunk(size: usize) -> i64 {
    (size + 8).next_multiple_of(16).max(32) as i64
}

// SAFETY: every call is passed on unchanged to the system's allocator; the counter neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(chunk(layout.size()));
        // SAFETY: the caller upholds the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(chunk(layout.size()));
        // SAFETY: the caller upholds the contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-chunk(layout.size()));
        // SAFETY: the caller upholds the contract.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(chunk(size) - chunk(layout.size()));
        // SAFETY: the caller upholds the contract.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Measures the size of a sleep, and the allocated bytes per pending timer, of a million, each with its box and the
/// pointer to it.
pub(crate) fn bytes<T: Timers>() -> Measured {
    const TIMERS: usize = 1_000_000;
    let (grown, crowd) = Stage::new::<T>(1).on_worker(|cx| {
        let start = Instant::now() + Duration::from_secs(60);
        let before = LIVE.get();
        let crowd = crowd::<T>(cx, TIMERS, start, Duration::from_secs(1800));
        (LIVE.get() - before, crowd)
    });
    drop(crowd);
    let bytes = |what, bytes| Value::new(what, bytes, Unit::Bytes);
    let sizes = [
        bytes("size of a `Sleep`", size_of::<T::Sleep>() as f64),
        bytes("a pending one in its box", grown as f64 / TIMERS as f64),
    ];
    Measured::cancelled(sizes, TIMERS)
}
