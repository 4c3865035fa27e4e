//! All tasks at once, each waiting under a timeout, until all are answered: what memory they take.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Result;
use indicatif::ProgressBar;
use tokio::sync::Notify;
use tokio::task::{JoinHandle, yield_now};

use crate::load::runtime;
use crate::machine;
use crate::options::Options;
use crate::timers::Timers;

/// Never reached: every task is answered.
const LIMIT: Duration = Duration::from_secs(3600);
/// What is armed by then has been written to memory.
const SETTLE: Duration = Duration::from_millis(100);

/// What came of the crowd.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crowd {
    pub(crate) answered: u64,
    /// With all that belongs to a task; `None` where the system does not tell.
    pub(crate) bytes_per_task: Option<f64>,
}

pub(crate) fn run<T: Timers>(options: &Options, progress: &ProgressBar) -> Result<Crowd> {
    let runtime = runtime(options.workers())?;
    let (tasks, progress) = (options.tasks, progress.clone());
    let crowd = runtime.spawn(async move { gather::<T>(tasks, &progress).await });
    runtime.block_on(crowd)?
}

async fn gather<T: Timers>(tasks: u64, progress: &ProgressBar) -> Result<Crowd> {
    machine::forget_peak();
    let before = machine::resident();
    let (gate, waiting) = (Arc::new(Notify::new()), Arc::new(AtomicU64::new(0)));
    let mut crowd: Vec<JoinHandle<bool>> = Vec::with_capacity(tasks as usize);
    for task in 0..tasks {
        let (gate, waiting) = (Arc::clone(&gate), Arc::clone(&waiting));
        crowd.push(tokio::spawn(wait::<T>(gate, waiting)));
        if task % 1_000 == 999 {
            progress.inc(1_000);
            yield_now().await;
        }
    }
    while waiting.load(Ordering::Acquire) < tasks {
        yield_now().await;
    }
    tokio::time::sleep(SETTLE).await;
    let grown = machine::peak()
        .zip(before)
        .map(|(peak, before)| peak.saturating_sub(before) as f64 * 1024.0);
    gate.notify_waiters();
    let mut answered = 0;
    for task in crowd {
        answered += u64::from(task.await?);
    }
    Ok(Crowd {
        answered,
        bytes_per_task: grown.map(|bytes| bytes / tasks as f64),
    })
}

/// Whether the gate was opened in time.
async fn wait<T: Timers>(gate: Arc<Notify>, waiting: Arc<AtomicU64>) -> bool {
    // From here on it hears the gate, though it is not polled yet.
    let answer = gate.notified();
    waiting.fetch_add(1, Ordering::Release);
    T::timeout(LIMIT, answer).await.is_ok()
}
