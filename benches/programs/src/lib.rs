//! Code that all programs share: their start, the runtime, the counts of operations, and the measurement.

use std::env;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use common::process::cpu_time;
use tokio::runtime::Builder;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

pub use crate::timers::registered;

pub mod channels;
pub mod peer;
mod timers;

/// The timeout of an operation, if its crate has no default. No timeout ever elapses.
pub const LIMIT: Duration = Duration::from_secs(1);

/// Calls `run` with the seconds to measure and the size, or `peer` with a number: the port of `delay`, otherwise 0.
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

/// For a program without another end.
pub fn no_peer(_: u16) -> Result<()> {
    bail!("this program has no other end")
}

/// Runs a program, with two workers for its tasks, in a single process.
pub fn on_two_workers(run: impl AsyncFnOnce(f64, usize) -> Result<()>) -> Result<()> {
    main(|seconds, size| two_workers(run(seconds, size)), no_peer)
}

/// Runs a future on this thread, with two workers for what it spawns. If built with `--cfg tokio_unstable`, they use
/// Tokio's alternative timer.
pub fn two_workers(future: impl Future<Output = Result<()>>) -> Result<()> {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2).enable_all();
    #[cfg(tokio_unstable)]
    builder.enable_alt_timer();
    let runtime = builder.build()?;
    let result = runtime.block_on(future);
    // Some crates leave tasks behind that do not end.
    runtime.shutdown_background();
    result
}

/// Runs a future on a current-thread runtime.
pub fn on_one_thread(future: impl Future<Output = Result<()>>) -> Result<()> {
    let mut builder = Builder::new_current_thread();
    builder.enable_all().build()?.block_on(future)
}

/// Counts operations, per task and on cache lines of their own, so that counting is not what is measured.
#[derive(Clone, Debug)]
pub struct Load(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    counts: Vec<Count>,
    stopped: AtomicBool,
}

#[derive(Debug, Default)]
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

    /// Returns the counter of each task.
    pub fn counters(&self) -> impl Iterator<Item = Counter> {
        let tasks = 0..self.0.counts.len();
        tasks.map(|task| Counter(self.clone(), task))
    }

    /// Spawns the tasks that make the operations.
    pub fn spawn<F>(&self, task: impl FnMut(Counter) -> F) -> Vec<JoinHandle<()>>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.counters().map(task).map(tokio::spawn).collect()
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

    /// Measures, and then stops and joins the tasks. Returns the number of all operations.
    pub async fn run(&self, seconds: f64, tasks: Vec<JoinHandle<()>>) -> Result<u64> {
        self.measure(seconds).await?;
        self.stop();
        join(tasks).await?;
        Ok(self.total())
    }

    /// Does the same, and checks that the other end has counted as many operations.
    pub async fn finish(
        &self,
        seconds: f64,
        tasks: Vec<JoinHandle<()>>,
        served: impl FnOnce() -> Result<u64>,
    ) -> Result<()> {
        let (done, served) = (self.run(seconds, tasks).await?, served()?);
        ensure!(
            served == done,
            "{done} operations were completed, and {served} were served"
        );
        Ok(())
    }
}

/// Counts the operations of one task.
#[derive(Clone, Debug)]
pub struct Counter(Load, usize);

impl Counter {
    /// Returns the number of the task.
    pub fn task(&self) -> usize {
        self.1
    }

    /// Counts an operation. Returns `true` if the task should make another one.
    pub fn done(&self) -> bool {
        let Load(shared) = &self.0;
        let count = &shared.counts[self.1].0;
        // Only this task writes this count.
        count.store(count.load(Relaxed) + 1, Relaxed);
        self.0.goes_on()
    }

    /// Returns the number of the task and the numbers after it, one for each operation. Taking the next one counts the
    /// operation before.
    pub fn numbers(self) -> impl Iterator<Item = u64> + Send {
        let first = self.1 as u64;
        (first..).take_while(move |&number| number == first || self.done())
    }
}

/// The time, and the processor time of this process.
pub struct Usage(Instant, Duration);

impl Usage {
    pub fn now() -> Result<Self> {
        Ok(Self(Instant::now(), cpu_time().context("/proc/self/stat")?))
    }

    /// Prints, since `now`: operations per second, and per operation the processor time in µs and tokio-wheel's timers.
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

/// Waits until all tasks have ended. Fails if one has panicked, or has not ended within five seconds, as each task does
/// at its first wrong result.
pub async fn join(tasks: Vec<JoinHandle<()>>) -> Result<()> {
    for task in tasks {
        timeout(5 * LIMIT, task)
            .await
            .context("a task did not end")??;
    }
    Ok(())
}

/// Starts actors, and as many callers. Each caller calls one actor after another, and each begins with a different one. An
/// actor counts its calls, and returns the number that it was called with, plus one.
pub fn call<A, F>(
    start: impl AsyncFnOnce(Vec<Counter>) -> Result<Vec<A>>,
    call: impl Fn(&'static A, u64) -> F + Copy + Send + 'static,
) -> Result<()>
where
    A: Sync + 'static,
    F: Future<Output = u64> + Send + 'static,
{
    on_two_workers(async |seconds, size| {
        let (load, served) = (Load::new(size), Load::new(size));
        let actors: &'static [A] = start(served.counters().collect()).await?.leak();
        let tasks = load.spawn(|caller| async move {
            for number in caller.numbers() {
                let actor = &actors[number as usize % actors.len()];
                assert_eq!(call(actor, number).await, number + 1);
            }
        });
        load.finish(seconds, tasks, || Ok(served.total())).await
    })
}
