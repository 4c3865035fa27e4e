//! The time that a cache line takes from one processor to another.
//!
//! On virtual machines it changes from minute to minute, as the host moves the processors: two hyper-threads of one core
//! exchange lines several times as fast as two cores do. Figures of two workers depend on it more than on anything else.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Instant;

use common::median;

const CHUNKS: usize = 100;
const EXCHANGES: u64 = 1_000;

#[repr(align(128))]
struct Line(AtomicU64);

/// Measures it between two threads, in nanoseconds. Each value costs two transfers: the store takes the line away from the
/// waiting thread, whose next load fetches it back. The median of many short measurements leaves out those in which one of
/// the threads did not run.
pub(crate) fn transfer() -> f64 {
    let line = Line(AtomicU64::new(0));
    let exchange = |first: u64| {
        // Each value is written by one of the threads, after it has seen the value before.
        for value in (first..).step_by(2).take(EXCHANGES as usize) {
            while line.0.load(Relaxed) != value {}
            line.0.store(value + 1, Relaxed);
        }
    };
    let starts = (0..CHUNKS as u64).map(|chunk| chunk * 2 * EXCHANGES);
    thread::scope(|scope| {
        let other = starts.clone();
        scope.spawn(move || other.for_each(|start| exchange(start + 1)));
        let measured: Vec<_> = starts
            .map(|start| {
                let begin = Instant::now();
                exchange(start);
                begin.elapsed().as_nanos() as f64 / (4 * EXCHANGES) as f64
            })
            .collect();
        median(&measured)
    })
}
