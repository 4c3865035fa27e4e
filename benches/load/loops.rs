//! Loops of tasks that do nothing but wait for very short timers.
//!
//! With tokio's timers such a loop goes round once or less in a millisecond, whatever the timers.
//! A driver that is finer than that where a runtime is busy has it go round more often, for CPU
//! that nothing asked for; and a runtime full of such tasks never parks, and looks at I/O late.
//! What is measured: rounds, and the CPU of the whole process. A runtime that is full of other
//! work takes all the CPU there is, so there it is how much of that work was done for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use common::others::{self, Neighbours};
use common::process::cpu_of_threads;
use common::table::{Cell, markdown, number};
use common::{median, println};
use timers::{Timers, Tokio, Wheel};
use tokio::runtime::{Builder, Runtime};

use crate::rounds::{Counter, Loop, Round};

/// More than any machine takes for one round.
const PATIENCE: Duration = Duration::from_secs(30);
/// The most that ours may take of tokio's.
const MOST: f64 = 1.1;

const HEADER: [&str; 11] = [
    "round",
    "loops",
    "runtime",
    "load",
    "rounds/s: tokio",
    "ours",
    "ratio",
    "CPU: tokio",
    "ours",
    "ratio",
    "other work",
];

#[derive(Args)]
pub(crate) struct Options {
    /// Only these rounds
    #[arg(long, value_enum, value_name = "ROUND")]
    only: Vec<Round>,
    /// How many loops there are
    #[arg(long, value_name = "N", default_values_t = [1, 500, 1000])]
    tasks: Vec<usize>,
    /// Only on this kind of runtime
    #[arg(long, value_enum)]
    runtime: Option<Kind>,
    /// For how long each is counted, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 500)]
    window: u64,
    /// How often each is counted
    #[arg(long, value_name = "N", default_value_t = 3)]
    rounds: usize,
}

impl Options {
    /// Enough to see that it works.
    pub(crate) fn least() -> Self {
        Options {
            only: vec![Round::Zero],
            tasks: vec![1],
            runtime: None,
            window: 20,
            rounds: 1,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Two workers
    Multi,
    /// One thread
    Current,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Multi => "2 workers",
            Kind::Current => "current-thread",
        }
    }

    fn build(self) -> Result<Runtime> {
        let mut builder = match self {
            Kind::Multi => Builder::new_multi_thread(),
            Kind::Current => Builder::new_current_thread(),
        };
        Ok(builder.worker_threads(2).enable_all().build()?)
    }
}

/// One row of the table.
#[derive(Clone, Copy)]
struct Case {
    round: Round,
    tasks: usize,
    kind: Kind,
    is_full: bool,
}

impl Case {
    fn all(options: &Options) -> Vec<Case> {
        let mut all = Vec::new();
        for &round in Round::value_variants() {
            for &kind in Kind::value_variants() {
                for is_full in [false, true] {
                    all.extend(options.tasks.iter().map(|&tasks| Case {
                        round,
                        tasks,
                        kind,
                        is_full,
                    }));
                }
            }
        }
        all.retain(|case| case.is_asked_for(options));
        all
    }

    fn is_asked_for(&self, options: &Options) -> bool {
        let is_round = options.only.is_empty() || options.only.contains(&self.round);
        is_round && options.runtime.is_none_or(|kind| kind == self.kind)
    }
}

/// In a second.
#[derive(Clone, Copy)]
struct Did {
    rounds: f64,
    /// Processors that were kept busy.
    cpu: f64,
    /// How much of the other work was done in a second of CPU.
    work: f64,
}

/// Medians: tokio's, ours, and ours ÷ tokio's.
struct Medians([f64; 3]);

impl Medians {
    fn of(rounds: &[[Did; 2]], get: fn(&Did) -> f64) -> Self {
        let median_of = |value: &dyn Fn(&[Did; 2]) -> f64| {
            let values: Vec<_> = rounds.iter().map(value).collect();
            median(&values)
        };
        Medians([
            median_of(&|[tokio, _]| get(tokio)),
            median_of(&|[_, wheel]| get(wheel)),
            median_of(&|[tokio, wheel]| get(wheel) / get(tokio)),
        ])
    }
}

/// A ratio, marked where it is too much.
fn marked(ratio: f64, is_over: bool) -> Cell {
    number(format!("{ratio:.2}{}", if is_over { " !" } else { "" }))
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let neighbours = Neighbours::watch();
    let mut table = markdown(HEADER);
    let mut over = 0;
    let cases = Case::all(options);
    for case in &cases {
        let (cells, is_over) = row(case, &in_turns(case, options)?);
        over += usize::from(is_over);
        table.add_row(cells);
    }
    println!("{table}");
    println!(
        "Ratios are ours ÷ tokio's. Rounds are those of all loops together; CPU is in processors. \
         {over} of {} rows are more than {MOST} times tokio's.",
        cases.len()
    );
    println!("{}", others::note(neighbours));
    Ok(())
}

/// The cells of a row, and whether a ratio is too much.
fn row(case: &Case, did: &[[Did; 2]]) -> (Vec<Cell>, bool) {
    let Medians([tokio_rounds, rounds, more_rounds]) = Medians::of(did, |did| did.rounds);
    let Medians([tokio_cpu, cpu, more_cpu]) = Medians::of(did, |did| did.cpu);
    let Medians([_, _, work]) = Medians::of(did, |did| did.work);
    let takes = if case.is_full { 1.0 / work } else { more_cpu };
    let (cpu_ratio, work_ratio) = if case.is_full {
        (number("–"), marked(work, takes > MOST))
    } else {
        (marked(more_cpu, takes > MOST), number("–"))
    };
    let cells = vec![
        Cell::new(case.round.name()),
        number(case.tasks),
        Cell::new(case.kind.name()),
        Cell::new(if case.is_full { "full" } else { "idle" }),
        number(format!("{tokio_rounds:.0}")),
        number(format!("{rounds:.0}")),
        marked(more_rounds, more_rounds > MOST),
        number(format!("{tokio_cpu:.3}")),
        number(format!("{cpu:.3}")),
        cpu_ratio,
        work_ratio,
    ];
    (cells, more_rounds > MOST || takes > MOST)
}

/// Both sides, one after the other, in changing order.
fn in_turns(case: &Case, options: &Options) -> Result<Vec<[Did; 2]>> {
    let window = Duration::from_millis(options.window);
    let tokio = || measure::<Tokio>(case, window);
    let wheel = || measure::<Wheel>(case, window);
    let round = |number: usize| {
        if number % 2 == 0 {
            return Ok([tokio()?, wheel()?]);
        }
        let wheel = wheel()?;
        Ok([tokio()?, wheel])
    };
    (0..options.rounds).map(round).collect()
}

fn measure<T: Timers>(case: &Case, window: Duration) -> Result<Did> {
    let runtime = case.kind.build()?;
    let stop = Arc::new(AtomicBool::new(false));
    let loops: Vec<_> = (0..case.tasks).map(|_| Loop::new(&stop)).collect();
    let others = (0..if case.is_full { 4 } else { 0 }).map(|_| Loop::new(&stop));
    let others: Vec<_> = others.collect();
    let (counters, works) = (counters(&loops), counters(&others));
    for (seed, this) in (0..).zip(loops) {
        runtime.spawn(this.run::<T>(case.round, seed));
    }
    for this in others {
        runtime.spawn(this.compute());
    }
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let drives = thread::spawn(move || {
        let _ = runtime.block_on(ended);
        // What waits for its last timer is dropped.
        runtime.shutdown_timeout(Duration::from_secs(10));
    });
    thread::sleep(window / 5);
    let did = watch(&counters, &works, window);
    stop.store(true, Ordering::SeqCst);
    drop(end);
    drives.join().expect("no panic");
    ensure!(did.rounds > 0.0, "{}: no loop goes round", T::NAME);
    Ok(did)
}

/// What is done within the window. A machine that is full may have no loop go round for a while: that is waited for.
fn watch(rounds: &[Arc<Counter>], works: &[Arc<Counter>], window: Duration) -> Did {
    let look = || {
        (
            Instant::now(),
            sum(rounds),
            sum(works),
            cpu_of_threads(None),
        )
    };
    let (begin, rounds_then, works_then, cpu_then) = look();
    let (end, rounds, works, cpu) = loop {
        thread::sleep(window);
        let seen = look();
        if seen.1 > rounds_then || seen.0 - begin > PATIENCE {
            break seen;
        }
    };
    let seconds = (end - begin).as_secs_f64();
    let cpu = cpu.zip(cpu_then).map_or(f64::NAN, |(now, then)| {
        now.saturating_sub(then).as_secs_f64() / seconds
    });
    Did {
        rounds: (rounds - rounds_then) as f64 / seconds,
        cpu,
        work: (works - works_then) as f64 / seconds / cpu,
    }
}

fn counters(loops: &[Loop]) -> Vec<Arc<Counter>> {
    loops.iter().map(|this| this.counter.clone()).collect()
}

fn sum(counters: &[Arc<Counter>]) -> u64 {
    counters.iter().map(|counter| counter.get()).sum()
}
