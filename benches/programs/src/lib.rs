//! Code that all programs share: their start, the runtime, the counts of operations, and the measurement.

use std::env;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use common::process::cpu_time;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

pub use crate::timers::registered;

pub mod channels;
pub mod peer;
mod timers;

/// The timeout of an operation, if its crate has no default. No timeout ever elapses.
pub const LIMIT: Duration = Duration::from_secs(1);

/// Runs a program, with the seconds to measure and its size. Or runs the other end of its connections, with a number.
pub fn main(
    run: impl FnOnce(f64, usize) -> Result<()>,
    peer: impl FnOnce(u16) -> Result<()>,
) -> Result<()> {
    let arguments: Vec<_> = env::args().collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    match arguments[1..] {
        ["run", seconds, size] => run(seconds.parse()?, size.parse()?),
        ["peer", number] => peer(number.parse()?),
        _ => bail!("the runner starts this program"),
    }
}

/// Runs a program on two workers in a single process.
pub fn on_two_workers(run: impl AsyncFnOnce(f64, usize) -> Result<()>) -> Result<()> {
    let run = |seconds, size| {
        let runtime = two_workers()?;
        let result = runtime.block_on(run(seconds, size));
        // Some crates leave tasks behind that do not end.
        runtime.shutdown_background();
        result
    };
    main(run, |_| bail!("this program has no other end"))
}

/// Builds a runtime with two workers. If built with `--cfg tokio_unstable`, it uses Tokio's alternative timer.
pub fn two_workers() -> Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2).enable_all();
    #[cfg(tokio_unstable)]
    builder.enable_alt_timer();
    Ok(builder.build()?)
}

/// Counts operations, per task and on cache lines of their own, so that counting is not what is measured.
#[derive(Clone)]
pub struct Load(Arc<Shared>);

struct Shared {
    counts: Vec<Count>,
    stopped: AtomicBool,
}

#[derive(Default)]
#[repr(align(128))]
struct Count(AtomicU64);

impl Load {
    pub fn new(tasks: usize) -> Self {
        let counts = (0..tasks).map(|_| Count::default()).collect();
        Self(Arc::new(Shared {
            counts,
            stopped: AtomicBool::new(false),
        }))
    }

    /// Spawns the tasks that make the operations.
    pub fn spawn<F>(&self, task: impl FnMut(usize) -> F) -> Vec<JoinHandle<()>>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        (0..self.0.counts.len())
            .map(task)
            .map(tokio::spawn)
            .collect()
    }

    /// Counts an operation. Returns `true` if the task should make another one.
    pub fn done(&self, task: usize) -> bool {
        let count = &self.0.counts[task].0;
        // Only this task writes this count.
        count.store(count.load(Relaxed) + 1, Relaxed);
        self.goes_on()
    }

    /// Returns `true` if the tasks should make further operations.
    pub fn goes_on(&self) -> bool {
        !self.0.stopped.load(Relaxed)
    }

    /// Tells every task to end after its present operation.
    pub fn stop(&self) {
        self.0.stopped.store(true, Relaxed);
    }

    pub fn total(&self) -> u64 {
        self.counts().sum()
    }

    fn counts(&self) -> impl Iterator<Item = u64> {
        self.0.counts.iter().map(|count| count.0.load(Relaxed))
    }

    /// Prints what was measured, after a second of warm-up.
    pub async fn measure(&self, seconds: f64) -> Result<()> {
        sleep(Duration::from_secs(1)).await;
        let before: Vec<_> = self.counts().collect();
        let (timers, usage) = (registered(), Usage::now()?);
        sleep(Duration::from_secs_f64(seconds)).await;
        let counts = self.counts().zip(before);
        let done: Vec<_> = counts.map(|(now, before)| now - before).collect();
        let stuck = done.iter().filter(|&&done| done == 0).count();
        ensure!(
            stuck == 0,
            "{stuck} tasks completed no operation in {seconds} seconds"
        );
        usage.print(done.iter().sum(), registered() - timers)
    }
}

/// The time, and the processor time of this process.
pub struct Usage(Instant, Duration);

impl Usage {
    pub fn now() -> Result<Self> {
        Ok(Self(Instant::now(), cpu_time().context("/proc/self/stat")?))
    }

    /// Prints operations per second, and microseconds of processor time and tokio-wheel's timers per operation, since then.
    pub fn print(&self, operations: u64, timers: u64) -> Result<()> {
        let (now, operations) = (Self::now()?, operations as f64);
        println!(
            "{} {} {}",
            operations / (now.0 - self.0).as_secs_f64(),
            (now.1 - self.1).as_secs_f64() * 1e6 / operations,
            timers as f64 / operations
        );
        Ok(())
    }
}

/// Waits until all tasks have ended. Fails if one has panicked, as each task does at its first wrong result.
pub async fn join(tasks: Vec<JoinHandle<()>>) -> Result<()> {
    for task in tasks {
        timeout(5 * LIMIT, task)
            .await
            .context("a task did not end")??;
    }
    Ok(())
}

/// Measures; stops and joins the tasks; and checks that the other end has counted as many operations.
pub async fn finish(
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

/// Starts as many callers as there are actors. Each caller calls one actor after another, and each begins with a different
/// one. An actor returns the number that it was called with, plus one.
pub async fn call<A, F>(
    seconds: f64,
    actors: Vec<A>,
    served: Load,
    call: impl Fn(&'static A, u64) -> F + Copy + Send + 'static,
) -> Result<()>
where
    A: Sync + 'static,
    F: Future<Output = u64> + Send + 'static,
{
    let load = Load::new(actors.len());
    let actors: &'static [A] = actors.leak();
    let tasks = load.spawn(|caller| {
        let load = load.clone();
        async move {
            for number in caller.. {
                let answer = call(&actors[number % actors.len()], number as u64).await;
                assert_eq!(answer, number as u64 + 1);
                if !load.done(caller) {
                    break;
                }
            }
        }
    });
    finish(load, tasks, seconds, || Ok(served.total())).await
}
