//! The longest stall of a worker of real-time priority that shares its processor with a normal
//! thread, where both arm and cancel timers of one wheel.
//!
//! The worker preempts the other thread wherever that is, also while it holds a lock. A lock that
//! is waited for by spinning, or by yielding to threads of the same priority, is never released
//! then: the worker keeps the processor until the kernel takes it away, after most of a second.
//! A lock that is waited for asleep costs what the other thread needs to release it.
//!
//! Each side runs in a process of its own, on one processor (`taskset`), whose worker is given
//! real-time priority (`chrt`). Where that right is not given, the bench fails.

use std::env;
use std::fs;
use std::future::Future;
use std::pin::pin;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use common::others::{self, Neighbours};
use common::process::Busy;
use common::table::{Cell, markdown, number};
use common::{Side, println, word};
use timers::{Timers, Tokio, Wheel};
use tokio::runtime::Builder;

#[derive(Args)]
pub(crate) struct Options {
    /// How long each side runs, in seconds
    #[arg(long, value_name = "S", default_value_t = 5.0)]
    seconds: f64,
    /// How often each side runs
    #[arg(long, value_name = "N", default_value_t = 3)]
    rounds: usize,
    /// Busy threads beside
    #[arg(long, value_name = "N", default_value_t = 4)]
    busy: usize,
    /// Run one side in this process, and print the longest stalls in milliseconds
    #[arg(long, value_enum, hide = true)]
    side: Option<Side>,
}

const HEADER: [&str; 5] = [
    "run",
    "side",
    "worker's longest",
    "other thread's",
    "operations",
];

pub(crate) fn run(options: &Options) -> Result<()> {
    match options.side {
        Some(Side::Tokio) => measure::<Tokio>(options),
        Some(_) => measure::<Wheel>(options),
        None => compare(options),
    }
}

fn compare(options: &Options) -> Result<()> {
    let limit = fs::read_to_string("/proc/sys/kernel/sched_rt_runtime_us");
    ensure!(
        limit.context("this is not Linux")?.trim() != "-1",
        "the kernel lets real-time threads keep a processor for ever (sched_rt_runtime_us)"
    );
    let neighbours = Neighbours::watch();
    let _busy = Busy::start(options.busy);
    let mut table = markdown(HEADER);
    for round in 1..=options.rounds {
        for side in [Side::Tokio, Side::Wheel] {
            let mut cells = vec![number(round), Cell::new(side.name())];
            cells.extend(
                in_a_process(side, options)?
                    .split_terminator('\n')
                    .map(number),
            );
            table.add_row(cells);
        }
    }
    println!("{table}");
    println!(
        "A worker of real-time priority and a normal thread arm and cancel timers of one wheel on \
         one processor, {} busy threads beside.",
        options.busy
    );
    println!("{}", others::note(neighbours));
    Ok(())
}

/// The last cells of a row, one a line.
fn in_a_process(side: Side, options: &Options) -> Result<String> {
    let output = Command::new("taskset")
        .args(["-c", "0"])
        .arg(env::current_exe()?)
        .args(["stall", "--side", &word(&side)])
        .args(["--seconds", &options.seconds.to_string()])
        .stderr(Stdio::inherit())
        .output()
        .context("taskset")?;
    ensure!(output.status.success(), "{} failed", side.name());
    Ok(String::from_utf8(output.stdout)?)
}

fn measure<T: Timers>(options: &Options) -> Result<()> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .on_thread_start(|| {
            if let Err(error) = take_real_time_priority() {
                eprintln!("{error:#}");
                std::process::exit(1);
            }
        })
        .build()?;
    let stop = Arc::new(AtomicBool::new(false));
    let (handle, stopped) = (runtime.handle().clone(), Arc::clone(&stop));
    let other = thread::spawn(move || {
        let _guard = handle.enter();
        Stalls::of::<T>(|| !stopped.load(Ordering::Relaxed), || {})
    });
    let until = Instant::now() + Duration::from_secs_f64(options.seconds);
    // Comes back in the middle of whatever the other thread does.
    let pause = || thread::sleep(Duration::from_micros(50));
    let worker = runtime.spawn(async move { Stalls::of::<T>(|| Instant::now() < until, pause) });
    let worker = runtime.block_on(worker)?;
    stop.store(true, Ordering::Relaxed);
    let other = other.join().expect("no panic");
    for longest in [worker.longest, other.longest] {
        println!("{:.1} ms", longest.as_secs_f64() * 1e3);
    }
    println!("{}", worker.operations + other.operations);
    Ok(())
}

/// Of arming and cancelling.
struct Stalls {
    longest: Duration,
    operations: u64,
}

impl Stalls {
    fn of<T: Timers>(goes_on: impl Fn() -> bool, pause: impl Fn()) -> Self {
        const AT_ONCE: u64 = 4;
        let mut cx = Context::from_waker(Waker::noop());
        let (mut longest, mut operations) = (Duration::ZERO, 0);
        while goes_on() {
            for _ in 0..AT_ONCE {
                let begin = Instant::now();
                let armed = pin!(T::sleep(Duration::from_secs(60))).poll(&mut cx);
                assert!(armed.is_pending());
                longest = longest.max(begin.elapsed());
            }
            operations += AT_ONCE;
            pause();
        }
        Stalls {
            longest,
            operations,
        }
    }
}

fn take_real_time_priority() -> Result<()> {
    let thread = fs::read_link("/proc/thread-self")?;
    let number = thread.file_name().context("this thread has no number")?;
    let given = Command::new("chrt")
        .args(["-f", "-p", "10"])
        .arg(number)
        .status()
        .context("chrt")?;
    ensure!(given.success(), "chrt is not permitted here");
    Ok(())
}
