//! The pure structure against `tokio_util`'s `DelayQueue`: a million entries, one replaced at random.

use std::time::Duration;

use rand::Rng;
use tokio::time::Instant;
use tokio_util::time::DelayQueue;
use wheel::TimingWheel;

use crate::figure::{Did, Measured, Scale};
use crate::peer::Tokio;
use crate::stage::{Stage, seeded};

const ENTRIES: usize = 1_000_000;
const REPLACED: usize = 400_000;
/// An hour of milliseconds, or of ticks.
const SPAN: std::ops::Range<u64> = 1_000..3_600_000;

pub(crate) fn timing_wheel(scale: Scale) -> Measured {
    let mut wheel: TimingWheel<u64> = TimingWheel::new();
    replace(
        scale,
        &mut wheel,
        |wheel, at| wheel.insert(at, at).expect("a deadline of the future"),
        |wheel, key| wheel.remove(key).is_some(),
    )
}

/// `DelayQueue` reads tokio's clock, so it works inside a runtime.
pub(crate) fn delay_queue(scale: Scale) -> Measured {
    Stage::bare::<Tokio>(1).on_worker(move |_| {
        let mut queue = DelayQueue::new();
        let start = Instant::now();
        replace(
            scale,
            &mut queue,
            |queue, at| queue.insert_at(at, start + Duration::from_millis(at)),
            |queue, key| queue.try_remove(&key).is_some(),
        )
    })
}

fn replace<S, K>(
    scale: Scale,
    structure: &mut S,
    insert: impl Fn(&mut S, u64) -> K,
    remove: impl Fn(&mut S, K) -> bool,
) -> Measured {
    let mut rng = seeded();
    let mut keys: Vec<K> = (0..scale.of(ENTRIES))
        .map(|_| insert(structure, rng.random_range(SPAN)))
        .collect();
    let count = scale.of(REPLACED);
    let mut removed = 0;
    let begin = Instant::now();
    for _ in 0..count {
        let index = rng.random_range(0..keys.len());
        let new = insert(structure, rng.random_range(SPAN));
        removed += u64::from(remove(structure, std::mem::replace(&mut keys[index], new)));
    }
    let cost = begin.elapsed().as_nanos() as f64 / count as f64;
    Measured::new(
        [cost],
        Did {
            armed: (keys.len() + count) as u64,
            cancelled: removed,
            ..Did::default()
        },
    )
}
