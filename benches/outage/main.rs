//! An outage: something behind a service stops answering, and all its timeouts expire together.
//!
//! ```text
//! cargo run --release -p outage                                              # half a minute
//! RUSTFLAGS="--cfg tokio_unstable" cargo run --release -p outage             # with Tokio's alternative timer
//! cargo run --release -p outage -- --timers 300000 --workers 0               # a current-thread runtime
//! cargo run --release -p outage -- --timers 100000 --work 10000              # each task then works for 10 µs
//! cargo run --release -p outage -- --timers 100000 --blocks                  # and one task blocks its worker
//! ```
//!
//! Each of a million tasks awaits a timeout with the same deadline. Meanwhile a thread outside the runtime sends a ping over
//! loopback TCP to a task that echoes it, every half a millisecond, and another thread sends a call through a channel. A ping
//! that is due while the last one is still under way is sent late, and counts from when it was due. So a long stall counts as
//! all the pings that it has delayed. Each run is a process of its own.

mod probes;

use std::env;
use std::future::pending;
use std::hint;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use common::conditions::Conditions;
use common::process::{cpu_time, numbers};
use common::table::{Spread, markdown, number, time};
use common::{alternate, println, thousands};
use timers::{Alt, Timers, Tokio, Wheel};
use tokio::sync::oneshot;
use tokio::task::yield_now;

use crate::probes::{Probe, quantile};

/// Time to spawn and arm a task, at most, and time in which the workers come to rest.
const LEAD: Duration = Duration::from_nanos(4_000);
const REST: Duration = Duration::from_millis(800);

/// Timeouts that expire together, on Tokio's timers and on tokio-wheel. Raw results go to standard error
#[derive(Debug, Parser)]
struct Options {
    /// Rounds, each of which runs every implementation, in alternating order
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Timeouts that expire together
    #[arg(long, default_value_t = 1_000_000)]
    timers: usize,
    /// Workers, or 0 for a current-thread runtime
    #[arg(long, default_value_t = 2)]
    workers: usize,
    /// Nanoseconds for which each task works after its timeout
    #[arg(long, default_value_t = 0)]
    work: u64,
    /// One of the tasks blocks its worker for a second
    #[arg(long)]
    blocks: bool,
    /// Run one implementation, and print numbers
    #[arg(long, hide = true)]
    side: Option<usize>,
}

/// What is measured, in nanoseconds.
const VALUES: [&str; 6] = [
    "echo, longest",
    "echo, p99",
    "call from outside, p99",
    "call from outside, longest",
    "all tasks done",
    "CPU time",
];

fn main() -> Result<()> {
    let options = Options::parse();
    let mut all = vec![(Tokio::NAME, run::<Tokio> as fn(&Options) -> Result<()>)];
    all.extend(
        (cfg!(tokio_unstable) && options.workers > 0).then_some((Alt::NAME, run::<Alt> as _)),
    );
    all.push((Wheel::NAME, run::<Wheel>));
    if let Some(side) = options.side {
        return all[side].1(&options);
    }
    let conditions = Conditions::watch();
    let mut runs = vec![Vec::new(); all.len()];
    for (round, at) in alternate(options.rounds, all.len()) {
        let mut run = Command::new(env::current_exe()?);
        let values = numbers(
            run.args(env::args_os().skip(1))
                .args(["--side", &at.to_string()]),
        )?;
        eprintln!("{}, round {}: {values:?}", all[at].0, round + 1);
        runs[at].push(values);
        conditions.sample();
    }
    conditions.warn();
    let (mut spread, mark) = (Spread::default(), conditions.mark());
    let mut table = markdown(
        ["measured"]
            .into_iter()
            .chain(all.iter().map(|(name, _)| *name)),
    );
    for (at, what) in VALUES.into_iter().enumerate() {
        let cells = runs.iter().map(|runs| {
            let values: Vec<_> = runs.iter().map(|run| run[at]).collect();
            number(time(spread.add(what, &values)) + mark)
        });
        let cells: Vec<_> = cells.collect();
        table.add_row([what.into()].into_iter().chain(cells));
    }
    println!("{table}\n\n{spread}");
    let timers = thousands(options.timers as u64);
    println!(
        "{timers} timeouts, {} workers. {conditions}",
        options.workers
    );
    Ok(())
}

/// What the tasks share.
#[derive(Default)]
struct Shared {
    armed: AtomicUsize,
    done: AtomicUsize,
    /// When the last task was done, and the processor time by then, in nanoseconds.
    done_at: AtomicU64,
    cpu: AtomicU64,
}

/// Runs one implementation, and prints what it measured.
fn run<T: Timers>(options: &Options) -> Result<()> {
    let runtime = T::runtime(options.workers);
    let handle = runtime.handle().clone();
    // A current-thread runtime needs a thread that drives it.
    let (end, ended) = oneshot::channel::<()>();
    let driver = thread::spawn(move || drop(runtime.block_on(ended)));
    let (echo, call) = (probes::echo(&handle)?, probes::call(&handle));
    let start = Instant::now();
    let deadline = start + LEAD * options.timers as u32 + REST;
    let shared = Arc::<Shared>::default();
    handle.spawn(spawn_all::<T>(
        options,
        start,
        deadline,
        Arc::clone(&shared),
    ));
    while shared.armed.load(Ordering::Relaxed) < options.timers {
        thread::sleep(Duration::from_millis(10));
        ensure!(
            Instant::now() + REST / 4 < deadline,
            "the tasks were not armed in time"
        );
    }
    thread::sleep(deadline.saturating_duration_since(Instant::now()) - Duration::from_millis(2));
    let cpu = cpu_time().context("/proc/self/stat")?;
    while shared.done_at.load(Ordering::Acquire) == 0 {
        thread::sleep(Duration::from_millis(5));
    }
    let done = start + Duration::from_nanos(shared.done_at.load(Ordering::Acquire));
    thread::sleep(Duration::from_millis(100));
    let [echoes, calls] = [echo, call].map(|probe: Probe| probe.between(deadline, done));
    drop(end);
    driver.join().expect("the runtime");
    let cpu = Duration::from_nanos(shared.cpu.load(Ordering::Relaxed)).saturating_sub(cpu);
    let [done, cpu] = [done - deadline, cpu].map(|time| time.as_nanos());
    let [longest, echo, call] = [
        quantile(&echoes, 1.0),
        quantile(&echoes, 0.99),
        quantile(&calls, 0.99),
    ];
    println!(
        "{longest} {echo} {call} {} {done} {cpu}",
        quantile(&calls, 1.0)
    );
    Ok(())
}

fn spin(work: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < work {
        hint::spin_loop();
    }
}

/// Spawns the tasks, each of which arms its timeout at once.
fn spawn_all<T: Timers>(
    options: &Options,
    start: Instant,
    deadline: Instant,
    shared: Arc<Shared>,
) -> impl Future<Output = ()> + Send + 'static {
    let (count, work, blocks) = (
        options.timers,
        Duration::from_nanos(options.work),
        options.blocks,
    );
    async move {
        for index in 0..count {
            let shared = Arc::clone(&shared);
            tokio::spawn(async move {
                shared.armed.fetch_add(1, Ordering::Relaxed);
                let remaining = deadline.saturating_duration_since(Instant::now());
                let timeout = T::timeout(remaining, pending::<()>());
                assert!(timeout.await.is_err(), "nothing answers");
                if blocks && index == count / 2 {
                    thread::sleep(Duration::from_secs(1));
                }
                spin(work);
                if shared.done.fetch_add(1, Ordering::Relaxed) + 1 == count {
                    let nanos = |time: Duration| time.as_nanos() as u64;
                    shared
                        .cpu
                        .store(nanos(cpu_time().unwrap_or_default()), Ordering::Relaxed);
                    shared
                        .done_at
                        .store(nanos(start.elapsed()), Ordering::Release);
                }
            });
            if index % 64 == 63 {
                yield_now().await;
            }
        }
    }
}
