//! Code that all programs share: their start, the runtime, the counts of operations, and the measurement.

use std::env;
use std::future::Future;
use std::mem::take;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use common::process::{cpu_of_threads, cpu_time};
use tokio::runtime::Builder;
use tokio::task::JoinHandle;

pub use crate::pace::Caller;
use crate::pace::PACER;
pub use crate::timers::armed;

pub mod channels;
pub mod pace;
pub mod peer;
mod timers;

/// The timers of the programs' own code.
pub mod time {
    #[cfg(not(feature = "import"))]
    pub use tokio::time::{sleep, timeout};
    #[cfg(feature = "import")]
    pub use wheel::time::{sleep, timeout};
}

/// The timeout of an operation, if its crate has no default. No timeout ever elapses.
pub const LIMIT: Duration = Duration::from_secs(1);

/// How many tasks make operations, unless a program has another number.
pub const CALLERS: usize = 64;

/// Calls `run` with the seconds to measure, or `peer` with a number: the port of `delay`, otherwise 0.
pub fn main(
    run: impl FnOnce(f64) -> Result<()>,
    peer: impl FnOnce(u16) -> Result<()>,
) -> Result<()> {
    let arguments: Vec<_> = env::args().collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    match arguments[1..] {
        ["run", seconds] => run(seconds.parse()?),
        ["peer", number] => peer(number.parse()?),
        _ => bail!("the runner starts this program"),
    }
}

/// For a program without another end.
pub fn no_peer(_: u16) -> Result<()> {
    bail!("this program has no other end")
}

/// Runs a program, with workers for its tasks, in a single process.
pub fn on_workers(run: impl AsyncFnOnce(f64) -> Result<()>) -> Result<()> {
    main(|seconds| block_on(run(seconds)), no_peer)
}

/// Runs a future on this thread, with the number of workers in `WORKERS`, or two, for what it spawns. If built with
/// `--cfg tokio_unstable`, they use Tokio's alternative timer.
pub fn block_on(future: impl Future<Output = Result<()>>) -> Result<()> {
    let mut builder = Builder::new_multi_thread();
    let workers = env::var("WORKERS").map_or(Ok(2), |count| count.parse())?;
    builder.worker_threads(workers).enable_all();
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
struct Count {
    done: AtomicU64,
    /// How long the timed operations took, in nanoseconds.
    took: Mutex<Vec<u64>>,
}

/// Timers of [`Load::measure`], which [`armed`] counts unless only the import has changed.
const SLEEPS: u64 = if cfg!(feature = "import") { 0 } else { 2 };

/// One operation in this many is timed. Reading the clock for each would be a large part of a short operation.
const TIMED: u64 = 16;

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
    pub fn spawn<F>(&self, task: impl FnMut(Caller) -> F) -> Vec<JoinHandle<()>>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let callers = pace::callers(self).into_iter();
        callers.map(task).map(tokio::spawn).collect()
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
        self.0.counts.iter().map(|count| count.done.load(Relaxed))
    }

    /// Returns how long the timed operations took since the last call.
    fn take_times(&self) -> Vec<u64> {
        let counts = self.0.counts.iter();
        let taken = counts.map(|count| take(&mut *count.took.lock().expect("no panic")));
        taken.flatten().collect()
    }

    /// Prints what was measured, after a second of warm-up.
    pub async fn measure(&self, seconds: f64) -> Result<()> {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let (before, _) = (self.counts().collect::<Vec<_>>(), self.take_times());
        let usage = Usage::now()?;
        tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
        let times = self.take_times();
        // A queue may arm its only timer before the warm-up ends.
        let timers = armed().saturating_sub(SLEEPS) as f64 / self.total() as f64;
        let counts = self.counts().zip(before);
        let done: Vec<_> = counts.map(|(now, before)| now - before).collect();
        let stuck = done.iter().filter(|&&done| done == 0).count();
        ensure!(
            stuck == 0,
            "{stuck} tasks completed no operation in {seconds} seconds"
        );
        usage.print(done.iter().sum(), timers, times)
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
        let done = &self.count().done;
        // Only this task writes this count.
        done.store(done.load(Relaxed) + 1, Relaxed);
        self.0.goes_on()
    }

    fn count(&self) -> &Count {
        let Load(shared) = &self.0;
        &shared.counts[self.1]
    }

    /// Begins an operation. Returns the time if this is one of those that are timed.
    pub fn begin(&self) -> Option<Instant> {
        let is_timed = self.count().done.load(Relaxed).is_multiple_of(TIMED);
        is_timed.then(Instant::now)
    }

    /// Does what [`done`](Self::done) does, and records how long the operation took.
    pub fn end(&self, began: Option<Instant>) -> bool {
        if let Some(began) = began {
            let mut took = self.count().took.lock().expect("no panic");
            took.push(began.elapsed().as_nanos() as u64);
        }
        self.done()
    }
}

/// The time, and the processor time of this process without its pacer.
pub struct Usage(Instant, Duration);

impl Usage {
    pub fn now() -> Result<Self> {
        // `cpu_time` has ticks of 10 ms.
        let cpu = cpu_of_threads(None).or_else(cpu_time);
        let pacer = cpu_of_threads(Some(PACER)).unwrap_or_default();
        let cpu = cpu.context("/proc/self/stat")?.saturating_sub(pacer);
        Ok(Self(Instant::now(), cpu))
    }

    /// Prints, since `now`: operations per second, and the processor time of an operation in ns. Then how many of
    /// tokio-wheel's timers the program armed per operation, and the 99th percentile of the times that operations took,
    /// or `NaN` if none was timed.
    pub fn print(&self, operations: u64, timers: f64, mut times: Vec<u64>) -> Result<()> {
        let (now, operations) = (Self::now()?, operations as f64);
        times.sort_unstable();
        let p99 = times.get(times.len() * 99 / 100);
        let rate = operations / (now.0 - self.0).as_secs_f64();
        let cpu = (now.1 - self.1).as_secs_f64() * 1e9 / operations;
        let p99 = p99.map_or(f64::NAN, |&nanos| nanos as f64);
        println!("rate {rate} cpu {cpu} timers {timers} p99 {p99}");
        Ok(())
    }
}

/// Waits until all tasks have ended. Fails if one has panicked, or has not ended within five seconds, as each task does
/// at its first wrong result.
pub async fn join(tasks: Vec<JoinHandle<()>>) -> Result<()> {
    for task in tasks {
        tokio::time::timeout(5 * LIMIT, task)
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
    on_workers(async |seconds| {
        let [load, served] = [(); 2].map(|()| Load::new(CALLERS));
        let actors: &'static [A] = start(served.counters().collect()).await?.leak();
        let tasks = load.spawn(|mut caller| async move {
            while let Some(number) = caller.next().await {
                let actor = &actors[number as usize % actors.len()];
                assert_eq!(call(actor, number).await, number + 1);
            }
        });
        load.finish(seconds, tasks, || Ok(served.total())).await
    })
}
