//! The time in which a cache line goes from one processor to another. Two threads, each kept on a processor of its own,
//! count in turns on one line.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Instant;

use anyhow::Result;
use common::median;

/// Transfers in a turn, as `benches/transfers` counts them: the store takes the line from the thread that waits, and the
/// next load of that thread fetches it.
const TRANSFERS_PER_TURN: u32 = 2;
/// Turns of each thread that are timed together.
const TURNS: u32 = 1_000;
/// Timed one after the other. The median counts, since the system takes a processor away now and then.
const BATCHES: u32 = 100;
/// Pairs that are measured at most.
const PAIRS: usize = 64;

/// Two processors, and the nanoseconds in which a line goes from one to the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) processors: (usize, usize),
    pub(crate) nanos: f64,
}

/// A line of its own; processors fetch lines in twos.
#[repr(align(128))]
struct Line(AtomicU32);

/// The pairs of these processors, or a sample where there are many, the fastest first.
pub(crate) fn measure(processors: &[usize]) -> Result<Vec<Pair>> {
    let mut pairs = Vec::new();
    for processors in sample(processors) {
        let nanos = bounce(processors)?;
        pairs.push(Pair { processors, nanos });
    }
    pairs.sort_by(|a, b| a.nanos.total_cmp(&b.nanos));
    Ok(pairs)
}

/// Evenly from all pairs, so that neighbours take part, and distant ones.
fn sample(processors: &[usize]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for (index, &one) in processors.iter().enumerate() {
        let others = &processors[index + 1..];
        pairs.extend(others.iter().map(|&other| (one, other)));
    }
    let step = pairs.len().div_ceil(PAIRS).max(1);
    pairs.into_iter().step_by(step).collect()
}

fn bounce((one, other): (usize, usize)) -> Result<f64> {
    let line = Line(AtomicU32::new(0));
    thread::scope(|scope| {
        // Each takes its turns even where it cannot be kept there: the other one waits for them.
        let turns = |processor, parity| {
            let is_kept = stay_on(&[processor]);
            let nanos = take_turns(&line, parity);
            is_kept.map(|()| nanos)
        };
        let second = scope.spawn(move || turns(other, 1));
        let first = scope.spawn(move || turns(one, 0));
        second.join().expect("it does not panic")?;
        first.join().expect("it does not panic")
    })
}

/// Waits for each number of this parity, and stores the next one. Returns nanoseconds per transfer.
fn take_turns(Line(line): &Line, parity: u32) -> f64 {
    let mut batches = Vec::new();
    for batch in 0..BATCHES {
        let began = Instant::now();
        for turn in TURNS * batch..TURNS * (batch + 1) {
            let turn = 2 * turn + parity;
            // Without a pause, which would be longer than what is measured.
            while line.load(Ordering::Acquire) != turn {}
            line.store(turn + 1, Ordering::Release);
        }
        let transfers = 2 * TURNS * TRANSFERS_PER_TURN;
        batches.push(began.elapsed().as_nanos() as f64 / f64::from(transfers));
    }
    median(&batches)
}

/// The processors that this process may run on; none where the system does not tell.
#[cfg(target_os = "linux")]
pub(crate) fn processors() -> Vec<usize> {
    use rustix::thread::{CpuSet, sched_getaffinity};
    let set = sched_getaffinity(None).unwrap_or_default();
    (0..CpuSet::MAX_CPU).filter(|&at| set.is_set(at)).collect()
}

/// Keeps this thread, and the threads that it spawns from now on, on these processors.
#[cfg(target_os = "linux")]
pub(crate) fn stay_on(processors: &[usize]) -> Result<()> {
    use rustix::thread::{CpuSet, sched_setaffinity};
    let mut set = CpuSet::new();
    processors.iter().for_each(|&at| set.set(at));
    Ok(sched_setaffinity(None, &set)?)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn processors() -> Vec<usize> {
    Vec::new()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn stay_on(_: &[usize]) -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::sample;

    #[test]
    fn all_pairs_of_few_processors_and_a_sample_of_many() {
        assert_eq!(sample(&[]), []);
        assert_eq!(sample(&[3]), []);
        assert_eq!(sample(&[0, 2, 5]), [(0, 2), (0, 5), (2, 5)]);
        let many: Vec<_> = (0..128).collect();
        let pairs = sample(&many);
        assert!(pairs.len() <= super::PAIRS);
        assert!(pairs.iter().any(|(one, other)| other - one > 64));
        assert!(pairs.iter().any(|(one, other)| other - one < 8));
    }
}
