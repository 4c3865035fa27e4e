//! What all programs share: the runtime, the counts of operations, and the measurement.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use common::process::cpu_time;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::timers::registered;

/// How long every operation may take. None ever does.
pub(crate) const LIMIT: Duration = Duration::from_secs(1);

/// A runtime with two workers; on tokio's timer per worker if built with `--cfg tokio_unstable`.
pub(crate) fn two_workers() -> Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2).enable_all();
    #[cfg(tokio_unstable)]
    builder.enable_alt_timer();
    Ok(builder.build()?)
}

/// Counts operations, per task and on cache lines of their own, so that counting is not what is measured.
#[derive(Clone)]
pub(crate) struct Load(Arc<Shared>);

struct Shared {
    counts: Vec<Count>,
    stopped: AtomicBool,
}

#[derive(Default)]
#[repr(align(128))]
struct Count(AtomicU64);

impl Load {
    pub(crate) fn new(tasks: usize) -> Self {
        let counts = (0..tasks).map(|_| Count::default()).collect();
        Self(Arc::new(Shared {
            counts,
            stopped: AtomicBool::new(false),
        }))
    }

    /// Spawns the tasks that make the operations.
    pub(crate) fn spawn<F>(&self, task: impl FnMut(usize) -> F) -> Vec<JoinHandle<()>>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        (0..self.0.counts.len())
            .map(task)
            .map(tokio::spawn)
            .collect()
    }

    /// Counts an operation. Returns whether the task shall make another one.
    pub(crate) fn done(&self, task: usize) -> bool {
        let count = &self.0.counts[task].0;
        // Only this task writes it.
        count.store(count.load(Relaxed) + 1, Relaxed);
        !self.0.stopped.load(Relaxed)
    }

    /// Tells every task to end after its present operation.
    pub(crate) fn stop(&self) {
        self.0.stopped.store(true, Relaxed);
    }

    pub(crate) fn total(&self) -> u64 {
        self.counts().sum()
    }

    fn counts(&self) -> impl Iterator<Item = u64> {
        self.0.counts.iter().map(|count| count.0.load(Relaxed))
    }

    /// Prints operations per second, and microseconds of processor time and tokio-wheel's timers per operation, after a
    /// second of warm-up.
    pub(crate) async fn measure(&self, seconds: f64) -> Result<()> {
        let cpu = || cpu_time().context("/proc/self/stat");
        sleep(Duration::from_secs(1)).await;
        let before: Vec<_> = self.counts().collect();
        let (processor, timers, start) = (cpu()?, registered(), Instant::now());
        sleep(Duration::from_secs_f64(seconds)).await;
        let (elapsed, processor, timers) =
            (start.elapsed(), cpu()? - processor, registered() - timers);
        let done: Vec<_> = self
            .counts()
            .zip(before)
            .map(|(now, before)| now - before)
            .collect();
        let stuck = done.iter().filter(|&&done| done == 0).count();
        ensure!(
            stuck == 0,
            "{stuck} tasks completed no operation in {seconds} seconds"
        );
        let done = done.iter().sum::<u64>() as f64;
        let (each, micros) = (timers as f64 / done, processor.as_secs_f64() * 1e6 / done);
        println!("{} {micros} {each}", done / elapsed.as_secs_f64());
        Ok(())
    }
}

/// Waits until all tasks have ended. Fails if one has panicked, which is what each does at the first wrong result.
pub(crate) async fn join(tasks: Vec<JoinHandle<()>>) -> Result<()> {
    for task in tasks {
        timeout(5 * LIMIT, task)
            .await
            .context("a task did not end")??;
    }
    Ok(())
}

/// Measures; stops and joins the tasks; and checks that the other end has counted as many operations.
pub(crate) async fn finish(
    load: Load,
    tasks: Vec<JoinHandle<()>>,
    seconds: f64,
    served: impl FnOnce() -> Result<u64>,
) -> Result<()> {
    load.measure(seconds).await?;
    load.stop();
    join(tasks).await?;
    let (served, done) = (served()?, load.total());
    ensure!(
        served == done,
        "{done} operations were completed, and {served} were served"
    );
    Ok(())
}
