//! What a single operation costs, with nothing else pending and with a million timers, and the half hour of a million:
//! kept to notice regressions.
//!
//! `cargo bench -p ops`
//!
//! How these compare with other timers is measured by the `versus` bench.

use std::future::{Future, poll_fn, ready};
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use criterion::measurement::WallTime;
use criterion::{BatchSize, BenchmarkGroup, BenchmarkId, Criterion, SamplingMode, Throughput};
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use tokio::runtime::{Builder, Runtime};
use tokio::task::coop::unconstrained;
use wheel::{Sleep, TimingWheel};

const OUTSTANDING: [usize; 2] = [0, 1_000_000];
const MINUTE: Duration = Duration::from_secs(60);
/// A long time in ticks; what is outstanding is spread over it.
const SPAN: u64 = 1 << 26;

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    for outstanding in OUTSTANDING {
        futures(&mut criterion, outstanding);
        structure(&mut criterion, outstanding);
    }
    half_hour(&mut criterion);
    criterion.final_summary();
}

/// The operations of a `Sleep`, on a worker of a multi-thread runtime.
fn futures(criterion: &mut Criterion, outstanding: usize) {
    let mut group = criterion.benchmark_group("sleep");
    let worker = Worker::new();
    let crowd = worker.crowd(outstanding);
    let mut operation = |name, run: fn(&mut Context<'_>, u64)| {
        group.bench_function(BenchmarkId::new(name, outstanding), |bencher| {
            bencher.iter_custom(|count| worker.time(move |cx| run(cx, count)));
        });
    };
    operation("register and cancel", register_cancel);
    operation("poll again", poll_again);
    operation("reset later", reset_later);
    operation("reset earlier", reset_earlier);
    operation("timeout of a ready future", ready_timeout);
    operation("snapshot of the metrics", snapshot);
    drop(crowd);
    group.finish();
}

fn register_cancel(cx: &mut Context<'_>, count: u64) {
    for _ in 0..count {
        arm(cx, black_box(pin!(wheel::sleep(MINUTE))));
    }
}

fn poll_again(cx: &mut Context<'_>, count: u64) {
    let mut sleep = pin!(wheel::sleep(MINUTE));
    for _ in 0..count {
        arm(cx, black_box(sleep.as_mut()));
    }
}

fn reset_later(cx: &mut Context<'_>, count: u64) {
    let start = wheel::Instant::now() + MINUTE;
    reset_each(
        cx,
        (0..count).map(|index| start + Duration::from_micros(index)),
    );
}

/// Earlier each time, but never earlier than the timer that is due first.
fn reset_earlier(cx: &mut Context<'_>, count: u64) {
    arm(cx, pin!(wheel::sleep(MINUTE / 2)));
    let start = wheel::Instant::now() + MINUTE + Duration::from_micros(count);
    reset_each(
        cx,
        (0..count).map(|index| start - Duration::from_micros(index)),
    );
}

fn reset_each(cx: &mut Context<'_>, deadlines: impl Iterator<Item = wheel::Instant>) {
    let mut sleep = pin!(wheel::sleep(MINUTE));
    arm(cx, sleep.as_mut());
    for deadline in deadlines {
        sleep.as_mut().reset(deadline);
        arm(cx, black_box(sleep.as_mut()));
    }
}

fn ready_timeout(cx: &mut Context<'_>, count: u64) {
    for _ in 0..count {
        let timeout = pin!(wheel::timeout(MINUTE, ready(black_box(1))));
        assert!(timeout.poll(cx).is_ready());
    }
}

fn snapshot(_: &mut Context<'_>, count: u64) {
    let metrics = wheel::metrics();
    for _ in 0..count {
        black_box(metrics.snapshot());
    }
}

fn arm(cx: &mut Context<'_>, sleep: Pin<&mut Sleep>) {
    assert!(sleep.poll(cx).is_pending());
}

/// A runtime with one worker, on which another timer is always due first.
struct Worker(Runtime);

impl Worker {
    fn new() -> Self {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build();
        let worker = Self(runtime.expect("a runtime"));
        worker.0.spawn(async {
            loop {
                wheel::sleep(Duration::from_millis(500)).await;
            }
        });
        worker
    }

    /// Runs `work` inside a task, without its cooperative budget.
    fn run<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Context<'_>) -> R + Send + 'static,
    ) -> R {
        let mut work = Some(work);
        let task = poll_fn(move |cx| Poll::Ready(work.take().expect("one poll")(cx)));
        self.0
            .block_on(self.0.spawn(unconstrained(task)))
            .expect("no panic")
    }

    fn time(&self, work: impl FnOnce(&mut Context<'_>) + Send + 'static) -> Duration {
        self.run(|cx| {
            let begin = Instant::now();
            work(cx);
            begin.elapsed()
        })
    }

    /// Pending timers, an hour away give or take half of it.
    fn crowd(&self, count: usize) -> Vec<Pin<Box<Sleep>>> {
        self.run(move |cx| {
            let mut rng = SmallRng::seed_from_u64(1);
            let mut armed = || {
                let mut sleep = Box::pin(wheel::sleep(Duration::from_millis(
                    rng.random_range(1_800_000..5_400_000),
                )));
                arm(cx, sleep.as_mut());
                sleep
            };
            (0..count).map(|_| armed()).collect()
        })
    }
}

/// The operations of the bare structure.
fn structure(criterion: &mut Criterion, outstanding: usize) {
    let mut group = criterion.benchmark_group("wheel");
    insert_and_remove(&mut group, outstanding);
    reschedule(&mut group, outstanding);
    next_expiration(&mut group, outstanding);
    advance(&mut group, outstanding);
    group.finish();
}

fn filled(outstanding: usize) -> TimingWheel<u64> {
    let mut rng = SmallRng::seed_from_u64(1);
    let mut wheel: TimingWheel<u64> = TimingWheel::new();
    for value in 0..outstanding as u64 {
        wheel
            .insert(rng.random_range(1..SPAN), value)
            .expect("a deadline of the future");
    }
    wheel
}

fn insert_and_remove(group: &mut BenchmarkGroup<'_, WallTime>, outstanding: usize) {
    let mut wheel = filled(outstanding);
    let mut rng = SmallRng::seed_from_u64(2);
    group.bench_function(
        BenchmarkId::new("insert and remove", outstanding),
        |bencher| {
            bencher.iter(|| {
                let key = wheel
                    .insert(rng.random_range(1..SPAN), 0)
                    .expect("a deadline of the future");
                wheel.remove(key)
            });
        },
    );
}

fn reschedule(group: &mut BenchmarkGroup<'_, WallTime>, outstanding: usize) {
    let mut wheel = filled(outstanding);
    let mut rng = SmallRng::seed_from_u64(2);
    let key = wheel.insert(1, 0).expect("a deadline of the future");
    group.bench_function(BenchmarkId::new("reschedule", outstanding), |bencher| {
        bencher.iter(|| wheel.reschedule(key, rng.random_range(1..SPAN)));
    });
}

fn next_expiration(group: &mut BenchmarkGroup<'_, WallTime>, outstanding: usize) {
    let wheel = filled(outstanding);
    group.bench_function(
        BenchmarkId::new("next expiration", outstanding),
        |bencher| {
            bencher.iter(|| black_box(&wheel).next_expiration());
        },
    );
}

/// A thousand timers, due within a second of milliseconds, and time that passes them all at once.
fn advance(group: &mut BenchmarkGroup<'_, WallTime>, outstanding: usize) {
    const DUE: u64 = 1_000;
    let mut wheel = filled(outstanding);
    let mut now = SPAN;
    let mut fired = 0;
    pass(&mut wheel, now);
    refill(&mut wheel, now, outstanding);
    group.bench_function(
        BenchmarkId::new("insert and fire a thousand", outstanding),
        |bencher| {
            bencher.iter_batched(
                || (),
                |()| {
                    for due in 1..=DUE {
                        let _ = black_box(wheel.insert(now + due, due));
                    }
                    now += DUE;
                    fired += pass(&mut wheel, now);
                },
                BatchSize::PerIteration,
            );
        },
    );
    black_box(fired);
}

/// Entries so far away that the clock never comes near them.
fn refill(wheel: &mut TimingWheel<u64>, now: u64, outstanding: usize) {
    for value in 0..outstanding as u64 {
        wheel
            .insert(now + (1 << 50) + value, value)
            .expect("a deadline of the future");
    }
}

/// A million checks that are due in half an hour of milliseconds: nine of ten are removed, and the rest falls due.
///
/// The structure knows no clock, so the half hour passes here as it does for the driver: from expiration to expiration.
fn half_hour(criterion: &mut Criterion) {
    const CHECKS: usize = 1_000_000;
    let mut settled: Vec<usize> = (0..CHECKS).collect();
    settled.shuffle(&mut SmallRng::seed_from_u64(1));
    settled.truncate(CHECKS / 10 * 9);
    let mut group = criterion.benchmark_group("half an hour");
    group
        .sample_size(10)
        .measurement_time(Duration::from_secs(5))
        .sampling_mode(SamplingMode::Flat)
        .throughput(Throughput::Elements(CHECKS as u64));
    group.bench_function("a million checks", |bencher| {
        bencher.iter(|| {
            let fired = create_settle_fire(CHECKS, &settled);
            assert_eq!(fired as usize, CHECKS - settled.len(), "all that was left");
        });
    });
    group.finish();
}

fn create_settle_fire(checks: usize, settled: &[usize]) -> u64 {
    const HALF_HOUR: u64 = 30 * 60 * 1000;
    const CREATED_PER_TICK: usize = 10_000;
    let mut wheel: TimingWheel<usize> = TimingWheel::new();
    let mut create = |check| {
        let due = HALF_HOUR + (check / CREATED_PER_TICK) as u64;
        wheel.insert(due, check).expect("a deadline of the future")
    };
    let keys: Vec<_> = (0..checks).map(&mut create).collect();
    for &check in settled {
        assert_eq!(wheel.remove(keys[check]), Some(check));
    }
    let mut fired = 0;
    while let Some(next) = wheel.next_expiration() {
        fired += pass(&mut wheel, next);
    }
    fired
}

/// Fires all that is due at `now`.
fn pass<T>(wheel: &mut TimingWheel<T>, now: u64) -> u64 {
    let mut fired = 0;
    wheel.advance(now, |expired| {
        black_box(expired);
        fired += 1;
    });
    fired
}
