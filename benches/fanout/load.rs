//! The tasks one after the other, as fast as the workers can: each fans out to calls, and
//! everything is under a timeout. Nearly all are answered, so nearly all timeouts are cancelled.

use std::future::pending;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
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
    /// How late those timeouts were that fired, in nanoseconds.
    pub(crate) late: Histogram<u64>,
}

/// Each worker's share of the tasks has a spawner. It is an error where a task ends otherwise than it should.
pub(crate) fn run<T: Timers>(runtime: &Runtime, tasks: u64, workers: usize) -> Result<Load> {
    let spawners: Vec<_> = (0..workers as u64)
        .map(|first| runtime.spawn(share::<T>((first..tasks).step_by(workers))))
        .collect();
    let (mut took, mut late) = (Duration::ZERO, Histogram::new(3)?);
    for spawner in spawners {
        let share = runtime.block_on(spawner)??;
        took = took.max(share.took);
        late.add(share.late)?;
    }
    Ok(Load { took, late })
}

async fn share<T: Timers>(tasks: impl Iterator<Item = u64> + Send) -> Result<Load> {
    let started = Instant::now();
    let (mut calling, mut lost) = (JoinSet::new(), JoinSet::new());
    for task in tasks {
        if task % LOST == 0 {
            lost.spawn(times_out::<T>(task));
            continue;
        }
        if calling.len() == UNDER_WAY {
            calling.join_next().await.transpose()?.transpose()?;
        }
        calling.spawn(is_answered::<T>());
    }
    while let Some(ended) = calling.join_next().await {
        ended??;
    }
    let took = started.elapsed();
    let mut late = Histogram::new(3)?;
    while let Some(ended) = lost.join_next().await {
        late.record(ended??.as_nanos() as u64)?;
    }
    Ok(Load { took, late })
}

/// A task all of whose calls are answered: not at once, but after the others of the worker had their turn.
async fn is_answered<T: Timers>() -> Result<()> {
    let work = join_all((0..CALLS).map(|_| T::timeout(LONG, yield_now())));
    let calls = T::timeout(LONG, work).await;
    let in_time = calls.is_ok_and(|calls| calls.iter().all(Result::is_ok));
    ensure!(in_time, "a task was not answered in time");
    Ok(())
}

/// A task one of whose calls never is: its timeout fires. How late.
async fn times_out<T: Timers>(task: u64) -> Result<Duration> {
    let limit = SHORT + STEP * (task % 10) as u32;
    let others = join_all((1..CALLS).map(|_| T::timeout(LONG, yield_now())));
    let never = async {
        let began = Instant::now();
        let ended = T::timeout(limit, pending::<()>()).await;
        ended.is_err().then(|| began.elapsed())
    };
    let both = T::timeout(LONG, async { futures::join!(never, others).0 });
    let took = both.await.ok().flatten().context("a task was lost")?;
    took.checked_sub(limit).context("a timeout fired early")
}
