//! Runs tasks as fast as the workers can. Each fans out to calls, and every task and every call is under a timeout. Nearly all
//! calls are answered, so nearly all timeouts are cancelled.

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

/// The timeout of a task, and of a call that is answered. It never fires, even if the machine stalls.
const LONG: Duration = Duration::from_secs(60);
/// The shortest timeout of a call that is never answered. These timeouts differ by steps that are no whole milliseconds.
const SHORT: Duration = Duration::from_millis(50);
const STEP: Duration = Duration::from_micros(10_007);
/// Maximum number of tasks with answered calls that a spawner has in progress, as in a service that is loaded rather
/// than flooded.
const UNDER_WAY: usize = 64;

/// The result of one run.
#[derive(Debug)]
pub(crate) struct Load {
    /// The time from the first task to the last answer.
    pub(crate) took: Duration,
    /// How late the fired timeouts were, in nanoseconds.
    pub(crate) late: Histogram<u64>,
}

/// Runs the tasks, with one spawner per worker. Returns an error if a task does not end as it should.
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

/// Runs a task whose calls are all answered, each after the worker has polled its other tasks.
async fn is_answered<T: Timers>() -> Result<()> {
    let work = join_all((0..CALLS).map(|_| T::timeout(LONG, yield_now())));
    let calls = T::timeout(LONG, work).await;
    let in_time = calls.is_ok_and(|calls| calls.iter().all(Result::is_ok));
    ensure!(in_time, "a task was not answered in time");
    Ok(())
}

/// Runs a task with a call that is never answered, so that its timeout fires. Returns how late it fired.
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
