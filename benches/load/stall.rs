//! The longest stall of a worker of real-time priority that shares its processor with a normal
//! thread, where both arm and cancel timers of one wheel.
//!
//! The worker preempts the other thread wherever that is, also while it holds a lock. A lock that
//! is waited for by spinning, or by yielding to threads of the same priority, is never released
//! then: the worker keeps the processor until the kernel takes it away, after most of a second.
//! A lock that is waited for asleep costs what the other thread needs to release it.
//!
//! Each side runs in a process of its own, on one processor (`taskset`), whose worker is given
//! real-time priority (`chrt`). Where that right is not given, nothing is measured.

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
use clap::{Args, ValueEnum};
use common::others::{self, Neighbours};
use common::table::{Cell, markdown, number};
use common::{Side, println};
use tokio::runtime::Builder;

use crate::process::{Busy, thread_number};
use crate::timers::{Timers, Tokio, Wheel};

#[derive(Args)]
pub(crate) struct Options {
    /// How long each side runs, in seconds
    #[arg(long, value_name = "S", default_value_t = 5.0)]
    seconds: f64,
    /// How often each side runs
    #[arg(long, value_name = "N", default_value_t = 3)]
    rounds: usize,
    /// Busy programs beside
    #[arg(long, value_name = "N", default_value_t = 4)]
    busy: usize,
    /// Run one side in this process, and print the longest stalls in nanoseconds
    #[arg(long, value_enum, hide = true)]
    side: Option<Side>,
}

/// Nanoseconds of the longest arming and cancelling.
#[derive(Clone, Copy, Default)]
struct Stalls {
    workers: u64,
    others: u64,
    operations: u64,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    match options.side {
        Some(Side::Tokio) => measure::<Tokio>(options),
        Some(_) => measure::<Wheel>(options),
        None => compare(options),
    }
}

fn compare(options: &Options) -> Result<()> {
    if let Err(why) = real_time_is_allowed() {
        println!("NOT MEASURED: {why}");
        return Ok(());
    }
    let neighbours = Neighbours::watch();
    let _busy = Busy::start(options.busy)?;
    let mut table = markdown([
        "run",
        "side",
        "worker's longest",
        "other thread's",
        "operations",
    ]);
    for round in 1..=options.rounds {
        for side in [Side::Tokio, Side::Wheel] {
            let stalls = in_a_process(side, options)?;
            let millis = |nanos| number(format!("{:.1} ms", nanos as f64 / 1e6));
            table.add_row([
                number(round),
                Cell::new(side.name()),
                millis(stalls.workers),
                millis(stalls.others),
                number(stalls.operations),
            ]);
        }
    }
    println!("{table}");
    println!(
        "A worker of real-time priority and a normal thread arm and cancel timers of one wheel on \
         one processor, {} busy programs beside.",
        options.busy
    );
    println!("{}", others::note(neighbours));
    Ok(())
}

/// Whether a thread can be given real-time priority, and the kernel takes it back.
fn real_time_is_allowed() -> Result<()> {
    let limit =
        fs::read_to_string("/proc/sys/kernel/sched_rt_runtime_us").context("this is not Linux")?;
    ensure!(
        limit.trim() != "-1",
        "the kernel lets real-time threads keep a processor for ever (sched_rt_runtime_us)"
    );
    for tool in [
        &["chrt", "-f", "10", "true"][..],
        &["taskset", "-c", "0", "true"],
    ] {
        let tried = Command::new(tool[0])
            .args(&tool[1..])
            .stderr(Stdio::null())
            .status();
        let given = tried.with_context(|| format!("there is no `{}`", tool[0]))?;
        ensure!(
            given.success(),
            "`{}` is not permitted here",
            tool.join(" ")
        );
    }
    Ok(())
}

fn in_a_process(side: Side, options: &Options) -> Result<Stalls> {
    let value = side.to_possible_value().context("a side has a name")?;
    let output = Command::new("taskset")
        .args(["-c", "0"])
        .arg(env::current_exe()?)
        .args(["stall", "--side", value.get_name()])
        .args(["--seconds", &options.seconds.to_string()])
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(output.status.success(), "{} failed", side.name());
    let text = String::from_utf8(output.stdout)?;
    let numbers: Vec<u64> = text
        .split_whitespace()
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    ensure!(numbers.len() == 3, "unexpected output: {text}");
    Ok(Stalls {
        workers: numbers[0],
        others: numbers[1],
        operations: numbers[2],
    })
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
    let handle = runtime.handle().clone();
    let other = {
        let stop = stop.clone();
        thread::spawn(move || {
            let _guard = handle.enter();
            let mut stalls = Stalls::default();
            while !stop.load(Ordering::Relaxed) {
                stalls.others = stalls.others.max(longest::<T>(100));
                stalls.operations += 100;
            }
            stalls
        })
    };
    let until = Instant::now() + Duration::from_secs_f64(options.seconds);
    let worker = runtime.spawn(async move {
        let mut stalls = Stalls::default();
        while Instant::now() < until {
            stalls.workers = stalls.workers.max(longest::<T>(4));
            stalls.operations += 4;
            // Comes back in the middle of whatever the other thread does.
            thread::sleep(Duration::from_micros(50));
        }
        stalls
    });
    let mut stalls = runtime.block_on(worker)?;
    stop.store(true, Ordering::Relaxed);
    let others = other.join().expect("no panic");
    stalls.operations += others.operations;
    println!("{} {} {}", stalls.workers, others.others, stalls.operations);
    Ok(())
}

/// The longest of so many timers' arming and cancelling, in nanoseconds.
fn longest<T: Timers>(timers: usize) -> u64 {
    let mut cx = Context::from_waker(Waker::noop());
    let mut longest = 0;
    for _ in 0..timers {
        let begin = Instant::now();
        {
            let sleep = pin!(T::sleep(Duration::from_secs(60)));
            assert!(sleep.poll(&mut cx).is_pending());
        }
        longest = longest.max(begin.elapsed().as_nanos() as u64);
    }
    longest
}

fn take_real_time_priority() -> Result<()> {
    let thread = thread_number().context("this thread has no number")?;
    let given = Command::new("chrt")
        .args(["-f", "-p", "10", &thread])
        .status()
        .context("chrt")?;
    ensure!(given.success(), "chrt is not permitted here");
    Ok(())
}
