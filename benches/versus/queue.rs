//! `DelayQueue` beside tokio-util's of the same name: every operation on a queue that holds all entries, in random
//! order.

use std::future::poll_fn;
use std::hint::black_box;
use std::task::{Context, Poll};
use std::time::Duration;

use rand::Rng;
use rand::seq::SliceRandom;
use tokio::time::{Instant, sleep_until};

use crate::figure::{Did, Figure, Measured, Scale, nanos};
use crate::peer::Tokio;
use crate::stage::{Stage, seeded};

const ENTRIES: usize = 1_000_000;
/// In milliseconds, as all times here.
const HALF_HOUR: u64 = 30 * 60 * 1000;
/// What is due in the last operation is due within this time, spread over its milliseconds.
const BURST: u64 = 1000;

pub(crate) fn figure() -> Figure {
    Figure::new(
        "delay-queue",
        "a million entries in DelayQueue, a line for each operation",
        run::<wheel::DelayQueue<u64>>,
    )
    .peer("tokio-util", run::<tokio_util::time::DelayQueue<u64>>)
    .line(nanos("insert"))
    .line(nanos("reset later"))
    .line(nanos("reset anywhere"))
    .line(nanos("remove"))
    .line(nanos("expire"))
    .rounds(5)
}

fn run<Q: Queue>(scale: Scale) -> Measured {
    let entries = scale.of(ENTRIES);
    // Nothing here needs a worker but the last operation, which waits.
    Stage::bare::<Tokio>(1).run(operations::<Q>(entries))
}

async fn operations<Q: Queue>(entries: usize) -> Measured {
    let mut random = seeded();
    let mut order: Vec<usize> = (0..entries).collect();
    order.shuffle(&mut random);
    let mut spread = |from, to| -> Vec<u64> {
        (0..entries)
            .map(|_| random.random_range(from..to))
            .collect()
    };
    let (timeouts, other) = (spread(10_000, HALF_HOUR), spread(10_000, HALF_HOUR));
    let soon = spread(1, BURST);
    let mut queue = Q::new();
    let mut keys = Vec::with_capacity(entries);
    let start = Instant::now();
    let at = |millis: u64| start + Duration::from_millis(millis);
    let insert = time(|| {
        keys.extend(
            timeouts
                .iter()
                .map(|&timeout| queue.insert_at(timeout, at(timeout))),
        )
    });
    let later = time(|| {
        order
            .iter()
            .for_each(|&index| queue.reset_at(&keys[index], at(timeouts[index] + HALF_HOUR)))
    });
    let anywhere = time(|| {
        order
            .iter()
            .for_each(|&index| queue.reset_at(&keys[index], at(other[index])))
    });
    let mut removed = 0;
    let remove = time(|| {
        for &index in order.iter().rev() {
            removed += u64::from(queue.remove(&keys[index]) == timeouts[index]);
        }
    });
    drop(queue);
    let (expire, fired) = burst::<Q>(&soon).await;
    let each = |time: Duration| time.as_secs_f64() * 1e9 / entries as f64;
    Measured::new(
        [insert, later, anywhere, remove, expire].map(each),
        Did {
            armed: 2 * entries as u64,
            moved: 2 * entries as u64,
            fired,
            cancelled: removed,
        },
    )
}

/// Everything is due; how long does it take to come out?
async fn burst<Q: Queue>(soon: &[u64]) -> (Duration, u64) {
    let mut queue = Q::new();
    let start = Instant::now() + Duration::from_secs(1);
    for &timeout in soon {
        black_box(queue.insert_at(timeout, start + Duration::from_millis(timeout)));
    }
    let first = poll_fn(|cx| Poll::Ready(queue.poll(cx))).await;
    assert!(first.is_pending(), "too slow a machine");
    sleep_until(start + Duration::from_millis(BURST + 5)).await;
    let begin = Instant::now();
    let mut fired = 0;
    while poll_fn(|cx| queue.poll(cx)).await.is_some() {
        fired += 1;
    }
    (begin.elapsed(), fired)
}

fn time(operation: impl FnOnce()) -> Duration {
    let begin = Instant::now();
    operation();
    begin.elapsed()
}

/// What both queues have.
trait Queue: Send + 'static {
    type Key: Send;
    fn new() -> Self;
    fn insert_at(&mut self, value: u64, when: Instant) -> Self::Key;
    fn reset_at(&mut self, key: &Self::Key, when: Instant);
    fn remove(&mut self, key: &Self::Key) -> u64;
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<u64>>;
}

macro_rules! queue {
    ($($queue:ident)::+, $key:ty) => {
        impl Queue for $($queue)::+<u64> {
            type Key = $key;
            fn new() -> Self {
                Self::new()
            }
            fn insert_at(&mut self, value: u64, when: Instant) -> Self::Key {
                self.insert_at(value, when)
            }
            fn reset_at(&mut self, key: &Self::Key, when: Instant) {
                self.reset_at(key, when);
            }
            fn remove(&mut self, key: &Self::Key) -> u64 {
                self.remove(key).into_inner()
            }
            fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<u64>> {
                let polled = self.poll_expired(cx);
                polled.map(|expired| expired.map(|expired| expired.into_inner()))
            }
        }
    };
}

queue!(wheel::DelayQueue, wheel::delay_queue::Key);
queue!(
    tokio_util::time::DelayQueue,
    tokio_util::time::delay_queue::Key
);
