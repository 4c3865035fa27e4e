//! The tasks one after the other, as fast as the workers can: each fans out to calls, and
//! everything is under a timeout. Nearly all are answered, so nearly all timeouts are cancelled.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Result;
use common::Side;
use futures::future::join_all;
use hdrhistogram::Histogram;
use indicatif::ProgressBar;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Mutex, Notify};
use tokio::task::yield_now;
use tokio::time::Instant;

use crate::options::Options;
use crate::timers::Timers;

/// Of a task, and of a call that is answered: never reached, though the machine stalls.
const LONG: Duration = Duration::from_secs(60);
/// Of a call that is never answered: from this on, in steps of a part of a millisecond.
const SHORT: Duration = Duration::from_millis(50);
const STEP: Duration = Duration::from_micros(10_007);
/// Tasks that a spawner starts before it lets them run, and that it has under way at most when
/// it starts the next: a service that is loaded, not flooded.
const BATCH: u64 = 64;

/// What came of one run of the load.
#[derive(Debug)]
pub(crate) struct Load {
    /// From the first task to the last answer.
    pub(crate) took: Duration,
    pub(crate) answered: u64,
    pub(crate) timed_out: u64,
    /// Timeouts that fired before their deadline.
    pub(crate) early: u64,
    /// How late the others were, in nanoseconds.
    pub(crate) late: Histogram<u64>,
}

/// What the tasks of one spawner have come to. Each spawner has its own.
struct Tally {
    answered: AtomicU64,
    early: AtomicU64,
    late: Mutex<Histogram<u64>>,
    /// Tasks that have not ended, of those that are answered and of those that are not.
    answers_due: AtomicU64,
    timeouts_due: AtomicU64,
    done: Notify,
}

/// A runtime whose timers are as the side has them.
pub(crate) fn runtime(options: &Options, workers: usize) -> Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.worker_threads(workers).enable_all().build()?;
    if options.side == Some(Side::Precise) {
        let precise = wheel::Builder::new().high_resolution(true);
        runtime.block_on(async { precise.install() })?;
    }
    Ok(runtime)
}

pub(crate) fn run<T: Timers>(
    options: &Options,
    workers: usize,
    progress: &ProgressBar,
) -> Result<Load> {
    let runtime = runtime(options, workers)?;
    let started = Instant::now();
    let spawners: Vec<_> = (0..workers as u64)
        .map(|first| {
            let share = (first..options.tasks).step_by(workers);
            runtime.spawn(spawn_share::<T, _>(
                share,
                options.clone(),
                progress.clone(),
            ))
        })
        .collect();
    let mut load = Load {
        took: Duration::ZERO,
        answered: 0,
        timed_out: 0,
        early: 0,
        late: histogram()?,
    };
    for spawner in spawners {
        let (answered_at, tally) = runtime.block_on(spawner)??;
        load.took = load.took.max(answered_at - started);
        load.add(&tally, &runtime)?;
    }
    Ok(load)
}

impl Load {
    fn add(&mut self, tally: &Tally, runtime: &Runtime) -> Result<()> {
        let late = runtime.block_on(tally.late.lock());
        self.answered += tally.answered.load(Ordering::Acquire);
        self.timed_out += late.len();
        self.early += tally.early.load(Ordering::Acquire);
        self.late.add(&*late)?;
        Ok(())
    }
}

/// Starts the tasks of a share, waits for all, and says when the last was answered.
async fn spawn_share<T: Timers, I>(
    share: I,
    options: Options,
    progress: ProgressBar,
) -> Result<(Instant, Arc<Tally>)>
where
    I: Iterator<Item = u64> + Clone + Send,
{
    let lost = share.clone().filter(|&task| options.is_lost(task)).count() as u64;
    let all = share.clone().count() as u64;
    let tally = Arc::new(Tally::new(all - lost, lost)?);
    let calls = options.calls;
    let mut to_start = all - lost;
    for (index, task) in (1..).zip(share) {
        if options.is_lost(task) {
            tokio::spawn(times_out::<T>(task, calls, Arc::clone(&tally)));
        } else {
            tokio::spawn(is_answered::<T>(calls, Arc::clone(&tally)));
            to_start -= 1;
        }
        if index % BATCH == 0 {
            progress.inc(BATCH);
            tally.give_way(to_start).await;
        }
    }
    tally.wait_for(&tally.answers_due).await;
    let answered_at = Instant::now();
    tally.wait_for(&tally.timeouts_due).await;
    Ok((answered_at, tally))
}

impl Tally {
    fn new(answers: u64, timeouts: u64) -> Result<Self> {
        Ok(Tally {
            answered: AtomicU64::new(0),
            early: AtomicU64::new(0),
            late: Mutex::new(histogram()?),
            answers_due: AtomicU64::new(answers),
            timeouts_due: AtomicU64::new(timeouts),
            done: Notify::new(),
        })
    }

    fn one_less(&self, due: &AtomicU64) {
        if due.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.done.notify_one();
        }
    }

    /// Lets the tasks run until few of those that are answered are left.
    async fn give_way(&self, to_start: u64) {
        loop {
            yield_now().await;
            let under_way = self.answers_due.load(Ordering::Acquire) - to_start;
            if under_way < BATCH {
                return;
            }
        }
    }

    async fn wait_for(&self, due: &AtomicU64) {
        while due.load(Ordering::Acquire) > 0 {
            self.done.notified().await;
        }
    }
}

/// A task all of whose calls are answered.
async fn is_answered<T: Timers>(calls: u64, tally: Arc<Tally>) {
    let work = join_all((0..calls).map(|_| T::timeout(LONG, answer())));
    let in_time = T::timeout(LONG, work).await;
    if in_time.is_ok_and(|calls| calls.iter().all(Result::is_ok)) {
        tally.answered.fetch_add(1, Ordering::Relaxed);
    }
    tally.one_less(&tally.answers_due);
}

/// A task one of whose calls never is: its timeout fires.
async fn times_out<T: Timers>(task: u64, calls: u64, tally: Arc<Tally>) {
    let limit = SHORT + STEP * (task % 10) as u32;
    let others = join_all((1..calls).map(|_| T::timeout(LONG, answer())));
    let never = async {
        let deadline = Instant::now() + limit;
        let ended = T::timeout(limit, std::future::pending::<()>()).await;
        (ended.is_err(), deadline)
    };
    let both = T::timeout(LONG, async { futures::join!(never, others) });
    if let Ok(((true, deadline), _)) = both.await {
        tally.record(deadline).await;
    }
    tally.one_less(&tally.timeouts_due);
}

impl Tally {
    async fn record(&self, deadline: Instant) {
        let now = Instant::now();
        self.early
            .fetch_add(u64::from(now < deadline), Ordering::Relaxed);
        let late = now.saturating_duration_since(deadline);
        self.late
            .lock()
            .await
            .saturating_record(late.as_nanos() as u64);
    }
}

/// An answer that is not there at once, but after the others of the worker had their turn.
async fn answer() {
    yield_now().await;
}

/// Nanoseconds up to a minute, to a thousandth.
pub(crate) fn histogram() -> Result<Histogram<u64>> {
    Ok(Histogram::new_with_max(60_000_000_000, 3)?)
}
