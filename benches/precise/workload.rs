//! The measured work, with one implementation, in a process of its own.

use std::fs;
use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use common::process::cpu_of_threads;
use hdrhistogram::Histogram;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use timers::Timers;
use tokio::time::Instant;

const WORKERS: usize = 2;
const WARM_UP: Duration = Duration::from_millis(500);

/// The state that the sleepers share.
#[derive(Default)]
struct Phase {
    measured: AtomicBool,
    stopped: AtomicBool,
    /// All sleeps, including those that are not measured.
    sleeps: AtomicU64,
}

/// Tasks that sleep for 1 to 5 ms again and again. Prints how late they woke (median and 99th percentile) and the CPU time
/// per sleep, both in µs, the number of open descriptors, and the number of all sleeps.
pub(crate) fn sleepers<T: Timers>(count: u64, time: Duration, resets: bool) -> Result<()> {
    let (runtime, phase) = (T::runtime(WORKERS), Arc::new(Phase::default()));
    let sleepers = (0..count).map(|seed| sleep_often::<T>(seed, Arc::clone(&phase), resets));
    let tasks: Vec<_> = sleepers.map(|sleeper| runtime.spawn(sleeper)).collect();
    let cpu = || cpu_of_threads(None).context("Linux's schedstat");
    thread::sleep(WARM_UP);
    let before = cpu()?;
    phase.measured.store(true, Ordering::Relaxed);
    // This thread is not a worker, and its sleep is not a timer of the runtime.
    thread::sleep(time);
    phase.measured.store(false, Ordering::Relaxed);
    let cpu = cpu()? - before;
    let descriptors = fs::read_dir("/proc/self/fd")?.count();
    phase.stopped.store(true, Ordering::Relaxed);
    let mut late = Histogram::<u64>::new(3)?;
    for task in tasks {
        late.add(runtime.block_on(task)?)?;
    }
    let micros = |quantile| late.value_at_quantile(quantile) as f64 / 1e3;
    let each = cpu.as_secs_f64() * 1e6 / late.len() as f64;
    let sleeps = phase.sleeps.load(Ordering::Relaxed);
    println!(
        "{} {} {each} {descriptors} {sleeps}",
        micros(0.5),
        micros(0.99)
    );
    Ok(())
}

/// Returns how late each sleep woke, in nanoseconds, if it both began and ended during the measurement.
async fn sleep_often<T: Timers>(seed: u64, phase: Arc<Phase>, resets: bool) -> Histogram<u64> {
    let mut random = SmallRng::seed_from_u64(seed);
    let mut late = Histogram::new(3).expect("a histogram");
    let mut kept = resets.then(|| Box::pin(T::sleep(Duration::ZERO)));
    while !phase.stopped.load(Ordering::Relaxed) {
        let after = Duration::from_micros(random.random_range(1_000..5_000));
        let is_measured = phase.measured.load(Ordering::Relaxed);
        let at = Instant::now() + after;
        match &mut kept {
            Some(sleep) => {
                T::reset(sleep.as_mut(), at);
                sleep.as_mut().await;
            }
            None => T::sleep_until(at).await,
        }
        let now = Instant::now();
        assert!(now >= at, "{} woke a sleeper {:?} early", T::NAME, at - now);
        phase.sleeps.fetch_add(1, Ordering::Relaxed);
        if is_measured && phase.measured.load(Ordering::Relaxed) {
            let late_by = (now - at).as_nanos() as u64;
            late.record(late_by).expect("a lateness");
        }
    }
    late
}

/// Timeouts of one second around work that is ready. Prints the nanoseconds per timeout, and the number of timeouts.
pub(crate) fn around_ready<T: Timers>(count: u64) -> Result<()> {
    let runtime = T::runtime(WORKERS);
    let task = runtime.spawn(async move {
        let (mut begin, mut done) = (Instant::now(), 0);
        for number in 0..count + count / 10 {
            if number == count / 10 {
                begin = Instant::now();
            }
            let answer = T::timeout(Duration::from_secs(1), ready(number)).await;
            done += u64::from(answer.is_ok_and(|answer| answer == number));
        }
        (begin.elapsed().as_nanos() as f64 / count as f64, done)
    });
    let (each, done) = runtime.block_on(task)?;
    ensure!(done == count + count / 10, "{done} timeouts were in time");
    println!("{each} {done}");
    Ok(())
}
