//! As many timers as tasks, all due in the same millisecond; how long it takes, meanwhile, to arm
//! and cancel another one.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use anyhow::{Result, ensure};
use hdrhistogram::Histogram;
use indicatif::ProgressBar;
use tokio::task::coop::unconstrained;
use tokio::task::yield_now;
use tokio::time::Instant;

use crate::load::{histogram, runtime};
use crate::options::Options;
use crate::timers::Timers;
use common::process;

/// Time to arm one timer, generously; they are due when all should be armed.
const TO_ARM: Duration = Duration::from_nanos(2_000);
const AT_LEAST: Duration = Duration::from_millis(100);
const LOST: Duration = Duration::from_secs(60);
/// Far enough to be cancelled in time.
const FAR: Duration = Duration::from_secs(600);
const BATCH: usize = 1_000;
/// Somebody else would have come this often, in nanoseconds, and waited for what was left.
const INTERVAL: u64 = 10_000;

/// What came of the expiry.
#[derive(Debug)]
pub(crate) struct Expiry {
    pub(crate) fired: u64,
    /// Waits for an armed and cancelled timer while the others fired, in nanoseconds.
    pub(crate) waits: Histogram<u64>,
}

/// Counts its wakes.
#[derive(Default)]
struct Fired(AtomicU64);

impl Wake for Fired {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

impl Fired {
    fn count(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

pub(crate) fn run<T: Timers>(options: &Options, progress: &ProgressBar) -> Result<Expiry> {
    let workers = options.workers();
    let runtime = runtime(options, workers)?;
    let mut lead = (TO_ARM * options.tasks as u32).max(AT_LEAST);
    let (fired, due, _sleeps) = loop {
        let (fired, due) = (Arc::new(Fired::default()), Instant::now() + lead);
        let arming = arm_all::<T>(options.tasks, due, Arc::clone(&fired));
        if let Some(sleeps) = runtime.block_on(runtime.spawn(arming))? {
            break (fired, due, sleeps);
        }
        // Some were due before all were armed: the machine is busy.
        lead *= 2;
    };
    std::thread::sleep(due.saturating_duration_since(Instant::now()));

    let inserters: Vec<_> = (0..workers)
        .map(|_| runtime.spawn(insert_while::<T>(Arc::clone(&fired), options.tasks)))
        .collect();
    let mut waits = histogram()?;
    for inserter in inserters {
        waits.add(runtime.block_on(inserter)??)?;
    }
    progress.inc(options.tasks);
    Ok(Expiry {
        fired: fired.count(),
        waits,
    })
}

/// What memory grows by while as many are armed that are far away; `None` where the system does not tell.
pub(crate) fn bytes_per_timer<T: Timers>(options: &Options) -> Result<Option<f64>> {
    let runtime = runtime(options, options.workers())?;
    let before = process::resident();
    let arming = arm_all::<T>(options.tasks, Instant::now() + FAR, Arc::default());
    let _sleeps = runtime.block_on(runtime.spawn(arming))?;
    let grown = |(after, before): (u64, u64)| after.saturating_sub(before) as f64 * 1024.0;
    let bytes = process::resident().zip(before).map(grown);
    Ok(bytes.map(|bytes| bytes / options.tasks as f64))
}

type Sleeps<T> = Vec<Pin<Box<<T as Timers>::Sleep>>>;

/// Timers that are due together; `None` where one is due already.
async fn arm_all<T: Timers>(count: u64, due: Instant, fired: Arc<Fired>) -> Option<Sleeps<T>> {
    let waker = Waker::from(fired);
    unconstrained(poll_fn(move |_| {
        let cx = &mut Context::from_waker(&waker);
        let mut sleeps: Sleeps<T> = Vec::with_capacity(count as usize);
        for index in 0..count {
            let within = Duration::from_nanos(index % 1_000_000);
            let mut sleep = Box::pin(T::sleep_until(due + within));
            if sleep.as_mut().poll(cx).is_ready() {
                return Poll::Ready(None);
            }
            sleeps.push(sleep);
        }
        Poll::Ready(Some(sleeps))
    }))
    .await
}

/// Arms and cancels until all others have fired. It gives way now and then, so that its worker
/// can fire them, too.
async fn insert_while<T: Timers>(fired: Arc<Fired>, armed: u64) -> Result<Histogram<u64>> {
    let mut waits = histogram()?;
    let began = Instant::now();
    while fired.count() < armed {
        ensure!(began.elapsed() < LOST, "a timer was lost");
        for wait in insert_some::<T>().await {
            waits.record_correct(wait, INTERVAL)?;
        }
        yield_now().await;
    }
    Ok(waits)
}

async fn insert_some<T: Timers>() -> [u64; BATCH] {
    unconstrained(poll_fn(|cx| {
        let far = Instant::now() + FAR;
        Poll::Ready(std::array::from_fn(|_| {
            let began = std::time::Instant::now();
            let armed = pin!(T::sleep_until(far)).poll(cx);
            assert!(armed.is_pending(), "ten minutes are not over");
            began.elapsed().as_nanos() as u64
        }))
    }))
    .await
}
