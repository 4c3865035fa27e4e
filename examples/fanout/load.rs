//! The tasks one after the other, as fast as the workers can: each fans out to calls, and
//! everything is under a timeout. Nearly all are answered, so nearly all timeouts are cancelled.

use std::future::pending;
use std::time::Duration;

use anyhow::Result;
use futures::future::join_all;
use hdrhistogram::Histogram;
use timers::Timers;
use tokio::runtime::Runtime;
use tokio::task::{JoinSet, yield_now};
use tokio::time::Instant;

use crate::{CALLS, LOST};

/// Of a task, and of a call that is answered: never reached, though the machine stalls.
const LONG: Duration = Duration::from_secs(60);
/// Of a call that is never answered: from this on, in steps of a part of a millisecond.
const SHORT: Duration = Duration::from_millis(50);
const STEP: Duration = Duration::from_micros(10_007);
/// Tasks that a spawner has under way at most: a service that is loaded, not flooded.
const UNDER_WAY: usize = 64;

/// What came of one run of the load.
#[derive(Debug)]
pub(crate) struct Load {
    /// From the first task to the last answer.
    pub(crate) took: Duration,
    pub(crate) answered: u64,
    /// Timeouts that fired before their deadline.
    pub(crate) early: u64,
    /// How late those were that fired, in nanoseconds.
    pub(crate) late: Histogram<u64>,
}

impl Load {
    fn nothing() -> Result<Self> {
        Ok(Load {
            took: Duration::ZERO,
            answered: 0,
            early: 0,
            late: Histogram::new(3)?,
        })
    }

    fn add(&mut self, other: &Load) -> Result<()> {
        self.took = self.took.max(other.took);
        self.answered += other.answered;
        self.early += other.early;
        Ok(self.late.add(&other.late)?)
    }
}

/// Each worker's share of the tasks has a spawner.
pub(crate) fn run<T: Timers>(runtime: &Runtime, tasks: u64, workers: usize) -> Result<Load> {
    let spawners: Vec<_> = (0..workers as u64)
        .map(|first| runtime.spawn(share::<T>((first..tasks).step_by(workers))))
        .collect();
    let mut load = Load::nothing()?;
    for spawner in spawners {
        load.add(&runtime.block_on(spawner)??)?;
    }
    Ok(load)
}

async fn share<T: Timers>(tasks: impl Iterator<Item = u64> + Send) -> Result<Load> {
    let started = Instant::now();
    let mut load = Load::nothing()?;
    let (mut calling, mut lost) = (JoinSet::new(), JoinSet::new());
    for task in tasks {
        if task % LOST == 0 {
            lost.spawn(times_out::<T>(task));
            continue;
        }
        if calling.len() == UNDER_WAY {
            let ended = calling.join_next().await;
            load.answered += u64::from(ended.transpose()? == Some(true));
        }
        calling.spawn(is_answered::<T>());
    }
    while let Some(answered) = calling.join_next().await {
        load.answered += u64::from(answered?);
    }
    load.took = started.elapsed();
    while let Some(ended) = lost.join_next().await {
        if let Some((deadline, fired)) = ended? {
            let late = fired.saturating_duration_since(deadline);
            load.early += u64::from(fired < deadline);
            load.late.record(late.as_nanos() as u64)?;
        }
    }
    Ok(load)
}

/// A task all of whose calls are answered.
async fn is_answered<T: Timers>() -> bool {
    let work = join_all((0..CALLS).map(|_| T::timeout(LONG, answer())));
    let in_time = T::timeout(LONG, work).await;
    in_time.is_ok_and(|calls| calls.iter().all(Result::is_ok))
}

/// A task one of whose calls never is: its timeout fires. The deadline, and when it did.
async fn times_out<T: Timers>(task: u64) -> Option<(Instant, Instant)> {
    let limit = SHORT + STEP * (task % 10) as u32;
    let others = join_all((1..CALLS).map(|_| T::timeout(LONG, answer())));
    let never = async {
        let deadline = Instant::now() + limit;
        let ended = T::timeout(limit, pending::<()>()).await;
        ended.is_err().then(|| (deadline, Instant::now()))
    };
    let both = T::timeout(LONG, async { futures::join!(never, others).0 });
    both.await.ok().flatten()
}

/// An answer that is not there at once, but after the others of the worker had their turn.
async fn answer() {
    yield_now().await;
}
