//! Measures how long a cache line takes from one processor to another.
//!
//! Timers of several workers contend for cache lines, so every result with more than one worker depends on this time. On a
//! virtual machine it may change from minute to minute, as the host moves its processors nearer to each other and away.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::scope;
use std::time::{Duration, Instant};

use crate::processors;

/// Number of transfers per turn of a thread: one for the store, which invalidates the
/// waiting thread's copy of the line, and one for that thread's next load.
const TRANSFERS_PER_TURN: u32 = 2;
/// Number of turns of each thread that are timed together, as a batch. The system may take a processor away in the middle
/// of a batch, so the result is the batch that is slower than one quarter of all.
const TURNS: u32 = 20;
/// The longest plausible transfer, in nanoseconds. A longer one means that the threads did not run at the same time.
const LONGEST: f64 = 2_000.0;
const ENOUGH: Duration = Duration::from_millis(20);
const END: u32 = u32::MAX;

/// A value on a pair of cache lines of its own, because processors fetch lines in pairs.
#[repr(align(128))]
struct Line(AtomicU32);

/// Measures the time of one transfer in nanoseconds, between two threads that the system places as it places workers.
/// Returns `None` if they did not run at the same time, as on a single processor.
#[must_use]
pub fn nanos() -> Option<f64> {
    if processors() < 2 {
        return None;
    }
    let line = &Line(AtomicU32::new(0)).0;
    scope(|scope| {
        scope.spawn(|| (1..).step_by(2).all(|turn| take(line, turn)));
        let (began, mut turn, mut batches) = (Instant::now(), 0, Vec::new());
        while began.elapsed() < ENOUGH {
            let batch = Instant::now();
            for _ in 0..TURNS {
                take(line, turn);
                turn += 2;
            }
            let transfers = 2 * TURNS * TRANSFERS_PER_TURN;
            batches.push(batch.elapsed().as_nanos() as f64 / f64::from(transfers));
        }
        wait(line, turn);
        line.store(END, Ordering::Release);
        batches.sort_by(f64::total_cmp);
        Some(batches[batches.len() / 4]).filter(|&nanos| nanos < LONGEST)
    })
}

/// Waits for this number and stores the next one. Returns `false` at the end.
fn take(line: &AtomicU32, turn: u32) -> bool {
    let goes_on = wait(line, turn);
    if goes_on {
        line.store(turn + 1, Ordering::Release);
    }
    goes_on
}

/// Spins without a pause, which would take longer than what is measured. Returns `false` at the end.
fn wait(line: &AtomicU32, turn: u32) -> bool {
    loop {
        match line.load(Ordering::Acquire) {
            END => return false,
            now if now == turn => return true,
            _ => {}
        }
    }
}
