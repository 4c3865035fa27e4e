//! What the workloads need: an implementation's runtime, code on its workers, and many pending timers.
//!
//! Timers are polled by hand, inside a spawned task and without its cooperative budget, because a `Sleep` that is never polled
//! registers nothing, and one that is polled on an exhausted budget is pending without being registered.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Barrier};
use std::task::Context;
use std::thread;
use std::time::Duration;

use common::process::cpu_of_threads;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use timers::expiry::{Sleeps, arm_all};
use timers::{Timers, WORKER, arm, on_task, service};
use tokio::runtime::Runtime;
use tokio::task::coop::unconstrained;
use tokio::task::yield_now;
use tokio::time::Instant;

/// The number of workers of benchmarks that need more than one.
pub(crate) const WORKERS: usize = 2;

const SETTLE: Duration = Duration::from_millis(20);
const HOUR: Duration = Duration::from_secs(3600);

/// An implementation's runtime. It is shut down when dropped.
pub(crate) struct Stage {
    pub(crate) runtime: Runtime,
    workers: usize,
}

impl Stage {
    /// Creates a runtime on which another timer is due every 500 ms, usually before those under test.
    pub(crate) fn new<T: Timers>(workers: usize) -> Self {
        Self::on(service::<T>(workers), workers)
    }

    /// Creates a runtime without any timer.
    pub(crate) fn bare<T: Timers>(workers: usize) -> Self {
        Self::on(T::runtime(workers), workers)
    }

    fn on(runtime: Runtime, workers: usize) -> Self {
        thread::sleep(SETTLE);
        Self { runtime, workers }
    }

    /// Runs `future` as a spawned task.
    pub(crate) fn run<R: Send + 'static>(
        &self,
        future: impl Future<Output = R> + Send + 'static,
    ) -> R {
        let task = self.runtime.spawn(future);
        self.runtime.block_on(task).expect("the workload panicked")
    }

    /// Runs `work` on a worker, inside a task whose context it receives.
    pub(crate) fn on_worker<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Context<'_>) -> R + Send + 'static,
    ) -> R {
        self.run(unconstrained(on_task(work)))
    }

    /// Runs `work` on all workers at once. It may wait at the barrier after its warm-up.
    ///
    /// Before that each worker runs a task that creates a timer and yields, as tasks of a service do, so that a driver can bind
    /// the thread to its worker.
    pub(crate) fn on_each_worker<T: Timers, R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Context<'_>, &Barrier) -> R + Clone + Send + 'static,
    ) -> Vec<R> {
        let barrier = Arc::new(Barrier::new(self.workers));
        let task = |_| {
            let (work, barrier) = (work.clone(), Arc::clone(&barrier));
            self.runtime.spawn(async move {
                barrier.wait();
                drop(T::sleep(HOUR));
                yield_now().await;
                unconstrained(on_task(|cx| work(cx, &barrier))).await
            })
        };
        let tasks: Vec<_> = (0..self.workers).map(task).collect();
        let tasks = tasks.into_iter().map(|task| self.runtime.block_on(task));
        tasks
            .collect::<Result<_, _>>()
            .expect("the workload panicked")
    }

    /// Arms `count` timers that are due in half an hour to one and a half hours.
    pub(crate) fn crowd<T: Timers>(&self, count: usize) -> Sleeps<T> {
        self.on_worker(move |cx| crowd::<T>(cx, count, Instant::now() + HOUR / 2, HOUR))
    }
}

/// Arms `count` timers that are due at random within `spread` after `due`.
pub(crate) fn crowd<T: Timers>(
    cx: &mut Context<'_>,
    count: usize,
    due: Instant,
    spread: Duration,
) -> Sleeps<T> {
    arm_all::<T>(cx, count, due, spread).expect("arming took too long")
}

/// Spawns `count` tasks, and lets others run now and then.
pub(crate) async fn spawn_many<F>(count: usize, mut task: impl FnMut() -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    for index in 0..count {
        tokio::spawn(task());
        if index % 100 == 99 {
            yield_now().await;
        }
    }
}

#[inline]
pub(crate) fn armed<T: Timers>(cx: &mut Context<'_>, at: Instant) -> Pin<Box<T::Sleep>> {
    let mut sleep = Box::pin(T::sleep_until(at));
    arm(sleep.as_mut(), cx);
    sleep
}

/// Returns the CPU time of all worker threads so far, in nanoseconds.
pub(crate) fn worker_cpu() -> f64 {
    let cpu = cpu_of_threads(Some(WORKER)).expect("Linux's schedstat");
    cpu.as_nanos() as f64
}

/// Returns the CPU time of the workers from shortly before `start` until `wait` returns, in nanoseconds.
pub(crate) fn cpu_while(start: Instant, wait: impl FnOnce()) -> f64 {
    let ahead = start.saturating_duration_since(Instant::now());
    thread::sleep(ahead.saturating_sub(Duration::from_millis(5)));
    let before = worker_cpu();
    wait();
    worker_cpu() - before
}

/// Returns the nanoseconds for each of `count` operations. `run` does as many as its argument; a tenth of them run
/// first as a warm-up.
pub(crate) fn each(count: usize, run: impl FnMut(usize)) -> f64 {
    each_after(count, || (), run)
}

/// Does the same, and calls `start` after the warm-up.
pub(crate) fn each_after(count: usize, start: impl FnOnce(), mut run: impl FnMut(usize)) -> f64 {
    run(count / 10);
    start();
    let begin = Instant::now();
    run(count);
    begin.elapsed().as_nanos() as f64 / count as f64
}

/// Returns the same random numbers for every implementation.
pub(crate) fn seeded() -> SmallRng {
    SmallRng::seed_from_u64(0x7143)
}

pub(crate) const DELAYS: usize = 4096;

/// Returns random delays of 1 s to 30 s, to be used in turn.
pub(crate) fn delays() -> Box<[Duration; DELAYS]> {
    let mut rng = seeded();
    let between = Duration::from_secs(1)..Duration::from_secs(30);
    Box::new(std::array::from_fn(|_| rng.random_range(between.clone())))
}
