//! A queue of a million entries: `DelayQueue` beside tokio-util's of the same name.
//!
//! `cargo bench -p delay_queue [-- ENTRIES ROUNDS]`, or `-- --quick`
//!
//! The two take turns, in changing order, so that what the machine does meanwhile meets both; what
//! is printed is the median of each, and the median of the rounds' ratios. Every operation is on a
//! queue that holds all entries, in random order; a checksum proves that both did the same.

use std::future::poll_fn;
use std::hint::black_box;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use clap::Parser;
use clap::builder::RangedU64ValueParser;
use common::println;
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};

const OPERATIONS: [&str; 5] = [
    "insert",
    "reset later",
    "reset anywhere",
    "remove",
    "expire",
];
const HALF_HOUR: u64 = 30 * 60 * 1000;

/// What is due in the last operation is due within this time, spread over its milliseconds.
const BURST: u64 = 1000;

#[derive(Parser)]
#[command(
    about = "Compares DelayQueue with tokio-util's",
    bin_name = "cargo bench -p delay_queue --"
)]
struct Arguments {
    /// How many entries the queues hold [default: 1000000].
    #[arg(value_parser = count_to(100_000_000))]
    entries: Option<usize>,
    /// How often each queue is measured [default: 9].
    #[arg(value_parser = count_to(1000))]
    rounds: Option<usize>,
    /// A fifth of the entries, three rounds.
    #[arg(long)]
    quick: bool,
    /// Name the operations instead of measuring them.
    #[arg(long)]
    list: bool,
    /// Passed by `cargo bench`. Without it, as under `cargo test`, little is done.
    #[arg(long, hide = true)]
    bench: bool,
}

fn count_to(most: u64) -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=most)
}

fn main() {
    let arguments = Arguments::parse();
    if arguments.list {
        return OPERATIONS.iter().for_each(|name| println!("{name}"));
    }
    let (entries, rounds) = match (arguments.quick, arguments.bench) {
        (true, _) => (200_000, 3),
        (false, true) => (1_000_000, 9),
        (false, false) => (1000, 1),
    };
    let entries = arguments.entries.unwrap_or(entries);
    let rounds = arguments.rounds.unwrap_or(rounds);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    runtime.block_on(compare(entries, rounds));
}

async fn compare(entries: usize, rounds: usize) {
    let mut ours = Vec::new();
    let mut theirs = Vec::new();
    for round in 0..rounds {
        let plan = Plan::new(entries, round as u64);
        for turn in [round, round + 1] {
            if turn % 2 == 0 {
                ours.push(run::<wheel::DelayQueue<u64>>(&plan).await);
            } else {
                theirs.push(run::<tokio_util::time::DelayQueue<u64>>(&plan).await);
            }
        }
        assert_eq!(ours[round].sum, theirs[round].sum, "the same was done");
    }
    report(entries, &ours, &theirs);
}

fn report(entries: usize, ours: &[Round], theirs: &[Round]) {
    println!("{entries} entries, {} rounds, ns per operation", ours.len());
    println!(
        "{:16}{:>8}{:>12}{:>8}  (slowest round)",
        "", "wheel", "tokio-util", "ratio"
    );
    for (at, name) in OPERATIONS.iter().enumerate() {
        let time = |rounds: &[Round]| {
            let of = |round: &Round| round.times[at].as_secs_f64() * 1e9 / entries as f64;
            rounds.iter().map(of).collect::<Vec<_>>()
        };
        let (ours, theirs) = (time(ours), time(theirs));
        let ratios = ours.iter().zip(&theirs).map(|(ours, theirs)| theirs / ours);
        let (ratio, worst) = median(ratios.collect());
        let (ours, theirs) = (median(ours).0, median(theirs).0);
        println!("{name:16}{ours:8.1}{theirs:12.1}{ratio:8.2}  ({worst:.2})");
    }
}

/// The median and the minimum.
fn median(mut values: Vec<f64>) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    (values[values.len() / 2], values[0])
}

/// What is done to both queues in one round.
struct Plan {
    /// In milliseconds.
    timeouts: Vec<u64>,
    other: Vec<u64>,
    soon: Vec<u64>,
    order: Vec<usize>,
}

impl Plan {
    fn new(entries: usize, seed: u64) -> Self {
        let mut random = SmallRng::seed_from_u64(seed);
        let mut order: Vec<usize> = (0..entries).collect();
        order.shuffle(&mut random);
        let mut spread = |from, to| {
            (0..entries)
                .map(|_| random.random_range(from..to))
                .collect()
        };
        Plan {
            timeouts: spread(10_000, HALF_HOUR),
            other: spread(10_000, HALF_HOUR),
            soon: spread(1, BURST),
            order,
        }
    }
}

struct Round {
    times: [Duration; OPERATIONS.len()],
    sum: u64,
}

async fn run<Q: Queue>(plan: &Plan) -> Round {
    let mut queue = Q::new();
    let start = wheel::Instant::now();
    let at = |millis: u64| start + Duration::from_millis(millis);

    let mut keys = Vec::with_capacity(plan.order.len());
    let insert = time(|| {
        let values = plan.timeouts.iter().zip(0..);
        keys.extend(values.map(|(&timeout, value)| queue.insert_at(value, at(timeout))));
    });
    let later = time(|| {
        for &index in &plan.order {
            queue.reset_at(&keys[index], at(plan.timeouts[index] + HALF_HOUR));
        }
    });
    let anywhere = time(|| {
        for &index in &plan.order {
            queue.reset_at(&keys[index], at(plan.other[index]));
        }
    });
    let mut sum = 0_u64;
    let remove = time(|| {
        for &index in plan.order.iter().rev() {
            sum = sum
                .wrapping_mul(31)
                .wrapping_add(queue.remove(&keys[index]));
        }
    });
    drop(queue);
    let (expire, fired) = burst::<Q>(plan).await;
    Round {
        times: [insert, later, anywhere, remove, expire],
        sum: sum ^ fired,
    }
}

/// Everything is due; how long does it take to come out?
async fn burst<Q: Queue>(plan: &Plan) -> (Duration, u64) {
    let mut queue = Q::new();
    let start = wheel::Instant::now() + Duration::from_secs(1);
    for (&timeout, value) in plan.soon.iter().zip(0..) {
        black_box(queue.insert_at(value, start + Duration::from_millis(timeout)));
    }
    assert!(
        poll_fn(|cx| Poll::Ready(queue.poll(cx))).await.is_pending(),
        "too slow a machine"
    );
    tokio::time::sleep_until(start + Duration::from_millis(BURST + 5)).await;
    let begun = Instant::now();
    let mut sum = 0_u64;
    while let Some(value) = poll_fn(|cx| queue.poll(cx)).await {
        sum = sum.wrapping_add(value);
    }
    (begun.elapsed(), sum)
}

fn time(operation: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    operation();
    begun.elapsed()
}

/// What both queues have.
trait Queue {
    type Key;
    fn new() -> Self;
    fn insert_at(&mut self, value: u64, when: wheel::Instant) -> Self::Key;
    fn reset_at(&mut self, key: &Self::Key, when: wheel::Instant);
    fn remove(&mut self, key: &Self::Key) -> u64;
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<u64>>;
}

macro_rules! queue {
    ($queue:ty, $key:ty) => {
        impl Queue for $queue {
            type Key = $key;
            fn new() -> Self {
                Self::new()
            }
            fn insert_at(&mut self, value: u64, when: wheel::Instant) -> Self::Key {
                self.insert_at(value, when)
            }
            fn reset_at(&mut self, key: &Self::Key, when: wheel::Instant) {
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

queue!(wheel::DelayQueue<u64>, wheel::delay_queue::Key);
queue!(
    tokio_util::time::DelayQueue<u64>,
    tokio_util::time::delay_queue::Key
);
