//! An outage: something behind a service stops answering, and its timeouts expire together.
//!
//! ```text
//! cargo run --release -p outage                                              # the table, in two to three minutes
//! RUSTFLAGS="--cfg tokio_unstable" cargo run --release -p outage             # with Tokio's alternative timer
//! cargo run --release -p outage -- --timers 300000 --workers 0               # a current-thread runtime
//! cargo run --release -p outage -- --timers 100000 --work 10000              # each task then works for 10 µs
//! cargo run --release -p outage -- --timers 100000 --spread 1000             # calls that began within a second
//! cargo run --release -p outage -- --timers 100000 --blocks                  # and one task blocks its worker
//! cargo run --release -p outage -- --timers 100000 --high-resolution         # also tokio-wheel with high resolution
//! ```
//!
//! Each of up to a million tasks awaits a timeout, all with one deadline or with deadlines that are spread evenly. Meanwhile
//! a thread outside the runtime sends a ping over loopback TCP to a task that echoes it, every half a millisecond, and
//! another thread sends a call through a channel. A ping that is due while the last one is still under way is sent late, and
//! counts from when it was due. So a long stall counts as all the pings that it has delayed. Sixteen tasks sleep
//! for a millisecond again and again, and sixteen others have armed a timer before that is due 10 ms after the deadline, or
//! after the middle of the deadlines. Each run is a process of its own.

mod probes;

use std::env;
use std::future::pending;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use common::conditions::Conditions;
use common::probe::{between, quantile};
use common::process::numbers;
use common::table::{LEGEND, Table, Unit, about_bold, markdown, number, title};
use common::{alternate, compute, println, within};
use timers::{Alt, Precise, Timers, Tokio, Wheel};
use tokio::sync::oneshot;
use tokio::task::yield_now;

use crate::probes::{Others, SLEEPERS};

/// Time to spawn and arm a task, at most, and time in which the workers come to rest.
const LEAD: Duration = Duration::from_nanos(4_000);
const REST: Duration = Duration::from_millis(800);
/// How long after the middle of the deadlines the timers that were armed before are due.
const AFTER: Duration = Duration::from_millis(10);
/// How long a blocked worker is blocked.
const BLOCK: Duration = Duration::from_secs(1);

/// Timeouts that expire together, on Tokio's timers and on tokio-wheel. Raw results go to standard error
#[derive(Debug, Parser)]
struct Options {
    /// Rounds, each of which runs every implementation, in alternating order
    #[arg(long, default_value_t = 3, value_parser = within::<usize>(1..=1000))]
    rounds: usize,
    /// Workers, or 0 for a current-thread runtime
    #[arg(long, default_value_t = 2, value_parser = within::<usize>(0..=1024))]
    workers: usize,
    /// Timeouts that expire [default: several outages, of 10,000 to 1,000,000 timeouts]
    #[arg(long, value_parser = within::<usize>(1..=10_000_000))]
    timers: Option<usize>,
    /// Milliseconds over which the deadlines are spread
    #[arg(long, default_value_t = 0, requires = "timers", value_parser = within::<u64>(0..=60_000))]
    spread: u64,
    /// Nanoseconds for which each task works after its timeout
    #[arg(long, default_value_t = 0, requires = "timers", value_parser = within::<u64>(0..=1_000_000_000))]
    work: u64,
    /// Also tokio-wheel with high resolution
    #[arg(long)]
    high_resolution: bool,
    /// One of the tasks blocks its worker for a second
    #[arg(long, requires = "timers")]
    blocks: bool,
    /// Run one implementation, and print numbers
    #[arg(long, hide = true, requires = "timers")]
    side: Option<usize>,
}

/// The outages of the table, and their options.
const OUTAGES: [(&str, &str); 6] = [
    ("1,000,000 together", "--timers 1000000"),
    ("50,000 together", "--timers 50000"),
    ("10,000 together", "--timers 10000"),
    (
        "100,000 that work 10 µs each",
        "--timers 100000 --work 10000",
    ),
    ("100,000 within 200 ms", "--timers 100000 --spread 200"),
    ("100,000, one blocks its worker", "--timers 100000 --blocks"),
];

/// What is measured, in nanoseconds; the last one from the last deadline on.
const VALUES: [&str; 5] = [
    "longest echo over TCP, one every 0.5 ms",
    "calls from another thread, 99th percentile",
    "latest of 16 tasks that repeat a sleep of 1 ms",
    "latest of 16 timers that were armed before",
    "last task done",
];

fn main() -> Result<()> {
    let options = Options::parse();
    let mut all = vec![(Tokio::NAME, run::<Tokio> as fn(&Options) -> Result<()>)];
    all.extend(
        (cfg!(tokio_unstable) && options.workers > 0).then_some((Alt::NAME, run::<Alt> as _)),
    );
    all.push((Wheel::NAME, run::<Wheel>));
    if options.high_resolution {
        all.push((Precise::<50>::NAME, run::<Precise<50>>));
    }
    if let Some(side) = options.side {
        return all[side].1(&options);
    }
    let given = env::args().skip(1).collect::<Vec<_>>().join(" ");
    let outages = match options.timers {
        Some(_) => &[(given.as_str(), "")],
        None => &OUTAGES[..],
    };
    let conditions = Conditions::watch();
    let mut rows = Vec::new();
    for (outage, its_options) in outages {
        let mut runs = vec![Vec::new(); all.len()];
        for (round, at) in alternate(options.rounds, all.len()) {
            let mut run = Command::new(env::current_exe()?);
            run.args(env::args_os().skip(1));
            run.args(its_options.split_whitespace());
            let values = numbers(run.args(["--side", &at.to_string()]))?;
            let name = all[at].0;
            eprintln!("{outage} on {name}, round {}: {values:?}", round + 1);
            runs[at].push(values);
            conditions.sample();
        }
        rows.push((*outage, runs));
    }
    conditions.warn();
    let names: Vec<_> = all.iter().map(|(name, _)| *name).collect();
    let table = table(&names, &rows, conditions.mark()).to_string();
    println!("{table}\n\n{LEGEND}{}", about_bold(&table));
    println!("{} workers. {conditions}", options.workers);
    Ok(())
}

/// Returns the table. A row has an outage's name, and what each round of each implementation measured.
fn table(names: &[&str], rows: &[(&str, Vec<Vec<Vec<f64>>>)], mark: &str) -> Table {
    let names = names.iter().map(|name| title(name));
    let mut table = markdown(["timeouts", "measured"].into_iter().chain(names));
    for (outage, runs) in rows {
        for (at, what) in VALUES.into_iter().enumerate() {
            let of = |side: &Vec<Vec<f64>>| side.iter().map(|run| run[at]).collect();
            let sides: Vec<Vec<f64>> = runs.iter().map(of).collect();
            let cells = Unit::Nanos.cells(&sides).map(|cell| number(cell + mark));
            let outage = if at == 0 { outage } else { "" };
            table.add_row([outage.into(), what.into()].into_iter().chain(cells));
        }
    }
    table
}

/// What the tasks share.
#[derive(Default)]
struct Shared {
    armed: AtomicUsize,
    done: AtomicUsize,
    /// When the last task was done, in nanoseconds.
    done_at: AtomicU64,
}

/// Runs one implementation, and prints what it measured.
fn run<T: Timers>(options: &Options) -> Result<()> {
    let count = options.timers.context("no timeouts")?;
    let runtime = T::runtime(options.workers);
    let handle = runtime.handle().clone();
    // A current-thread runtime needs a thread that drives it.
    let (end, ended) = oneshot::channel::<()>();
    let driver = thread::spawn(move || drop(runtime.block_on(ended)));
    let (echo, call) = (probes::echo(&handle)?, probes::call(&handle));
    let start = Instant::now();
    let spread = Duration::from_millis(options.spread);
    let first = start + LEAD * count as u32 + REST;
    let middle = first + spread / 2 + AFTER;
    let (sleeps, beforehand) = (
        Others::sleep::<T>(&handle),
        Others::arm::<T>(&handle, middle),
    );
    let shared = Arc::<Shared>::default();
    handle.spawn(spawn_all::<T>(
        options,
        count,
        start,
        first,
        Arc::clone(&shared),
    ));
    while shared.armed.load(Ordering::Relaxed) < count {
        thread::sleep(Duration::from_millis(10));
        ensure!(
            Instant::now() + REST / 4 < first,
            "the tasks were not armed in time"
        );
    }
    while shared.done_at.load(Ordering::Acquire) == 0 {
        thread::sleep(Duration::from_millis(5));
    }
    let done = start + Duration::from_nanos(shared.done_at.load(Ordering::Acquire));
    // A blocked worker may keep others waiting that long.
    let over = middle.max(done + BLOCK * u32::from(options.blocks));
    thread::sleep(over.saturating_duration_since(Instant::now()) + 10 * AFTER);
    let waits = [echo.stop(), call.stop(), sleeps.waits(), beforehand.waits()];
    let [echoes, calls, sleeps, beforehand] = waits.map(|waits| between(waits, first, over));
    ensure!(beforehand.len() == SLEEPERS, "a timer was lost");
    drop(end);
    driver.join().expect("the runtime");
    println!(
        "{} {} {} {} {}",
        quantile(&echoes, 1.0),
        quantile(&calls, 0.99),
        quantile(&sleeps, 1.0),
        quantile(&beforehand, 1.0),
        done.saturating_duration_since(first + spread).as_nanos()
    );
    Ok(())
}

/// Spawns the tasks, each of which arms its timeout immediately.
fn spawn_all<T: Timers>(
    options: &Options,
    count: usize,
    start: Instant,
    first: Instant,
    shared: Arc<Shared>,
) -> impl Future<Output = ()> + Send + 'static {
    let (spread, work, blocks) = (
        Duration::from_millis(options.spread),
        Duration::from_nanos(options.work),
        options.blocks,
    );
    async move {
        for index in 0..count {
            let deadline = first + spread.mul_f64(index as f64 / count as f64);
            let shared = Arc::clone(&shared);
            tokio::spawn(async move {
                shared.armed.fetch_add(1, Ordering::Relaxed);
                let remaining = deadline.saturating_duration_since(Instant::now());
                let timeout = T::timeout(remaining, pending::<()>());
                assert!(timeout.await.is_err(), "nothing answers");
                compute(work);
                if shared.done.fetch_add(1, Ordering::Relaxed) + 1 == count {
                    let nanos = start.elapsed().as_nanos() as u64;
                    shared.done_at.store(nanos, Ordering::Release);
                }
                if blocks && index == count / 2 {
                    thread::sleep(BLOCK);
                }
            });
            if index % 64 == 63 {
                yield_now().await;
            }
        }
    }
}
