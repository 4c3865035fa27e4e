//! Loops of tasks that do nothing but wait for very short timers.
//!
//! With tokio's timers such a loop goes round once or less in a millisecond, whatever the timers.
//! A driver that is finer than that where a runtime is busy has it go round more often, for CPU
//! that nobody asked for; and a runtime full of such tasks never parks, and looks at I/O late.
//! What is measured: rounds, and the CPU of the whole process. A runtime that is full of other
//! work takes all the CPU there is, so there it is how much of that work was done for it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use common::others::{self, Neighbours};
use common::table::{Cell, markdown, number};
use common::{median, println};
use tokio::runtime::{Builder, Runtime};

use crate::process::cpu;
use crate::rounds::{Counter, Loop, Round, until};
use crate::timers::{Timers, Tokio, Wheel};

/// More than any machine takes for one round.
const PATIENCE: Duration = Duration::from_secs(30);
/// The most that ours may take of tokio's.
const MOST: f64 = 1.1;

#[derive(Args)]
pub(crate) struct Options {
    /// Only these rounds
    #[arg(long, value_enum, value_name = "ROUND")]
    only: Vec<Round>,
    /// How many loops there are
    #[arg(long, value_name = "N", default_values_t = [1, 500, 1000])]
    tasks: Vec<usize>,
    /// Only on one kind of runtime
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Two workers
    Multi,
    /// One thread
    Current,
}

impl Kind {
    const ALL: [Kind; 2] = [Kind::Multi, Kind::Current];

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
            for kind in Kind::ALL {
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
        all.retain(|case| {
            let wanted = options.only.is_empty() || options.only.contains(&case.round);
            wanted && options.runtime.is_none_or(|kind| kind == case.kind)
        });
        all
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

pub(crate) fn run(options: &Options) -> Result<()> {
    let neighbours = Neighbours::watch();
    let mut table = markdown([
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
    ]);
    let mut over = 0;
    let cases = Case::all(options);
    for case in &cases {
        let did = in_turns(case, options)?;
        let of = |get: fn(&Did) -> f64, side: usize| {
            let values: Vec<_> = did.iter().map(|pair| get(&pair[side])).collect();
            median(&values)
        };
        let ratio = |get: fn(&Did) -> f64| {
            let ratios = did.iter().map(|[tokio, wheel]| get(wheel) / get(tokio));
            median(&ratios.collect::<Vec<_>>())
        };
        let (rounds, cpu) = (ratio(|did| did.rounds), ratio(|did| did.cpu));
        let work = case.is_full.then(|| ratio(|did| did.work));
        let takes = work.map_or(cpu, |work| 1.0 / work);
        let is_over = rounds > MOST || takes > MOST;
        over += usize::from(is_over);
        table.add_row([
            Cell::new(case.round.name()),
            number(case.tasks),
            Cell::new(case.kind.name()),
            Cell::new(if case.is_full { "full" } else { "idle" }),
            number(format!("{:.0}", of(|did| did.rounds, 0))),
            number(format!("{:.0}", of(|did| did.rounds, 1))),
            number(format!(
                "{rounds:.2}{}",
                if rounds > MOST { " !" } else { "" }
            )),
            number(format!("{:.3}", of(|did| did.cpu, 0))),
            number(format!("{:.3}", of(|did| did.cpu, 1))),
            number(match case.is_full {
                true => "–".to_owned(),
                false => format!("{cpu:.2}{}", if cpu > MOST { " !" } else { "" }),
            }),
            number(work.map_or("–".to_owned(), |work| {
                format!("{work:.2}{}", if 1.0 / work > MOST { " !" } else { "" })
            })),
        ]);
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

/// Both sides, one after the other, in changing order.
fn in_turns(case: &Case, options: &Options) -> Result<Vec<[Did; 2]>> {
    let window = Duration::from_millis(options.window);
    let round = |number: usize| {
        let (tokio, wheel);
        if number % 2 == 0 {
            tokio = measure::<Tokio>(case, window)?;
            wheel = measure::<Wheel>(case, window)?;
        } else {
            wheel = measure::<Wheel>(case, window)?;
            tokio = measure::<Tokio>(case, window)?;
        }
        Ok([tokio, wheel])
    };
    (0..options.rounds).map(round).collect()
}

fn measure<T: Timers>(case: &Case, window: Duration) -> Result<Did> {
    let runtime = case.kind.build()?;
    let stop = Arc::new(AtomicBool::new(false));
    let loops: Vec<_> = (0..case.tasks).map(|_| Loop::new(&stop)).collect();
    let counters: Vec<_> = loops.iter().map(|this| this.counter.clone()).collect();
    for (seed, this) in (0..).zip(loops) {
        runtime.spawn(this.run::<T>(case.round, seed));
    }
    let others: Vec<_> = (0..if case.is_full { 4 } else { 0 })
        .map(|_| Loop::new(&stop))
        .collect();
    let works: Vec<_> = others.iter().map(|this| this.counter.clone()).collect();
    for this in others {
        runtime.spawn(this.compute());
    }
    let waker = Arc::default();
    let driven = until(stop.clone(), Arc::clone(&waker));
    let drives = thread::spawn(move || {
        runtime.block_on(driven);
        // What waits for its last timer is dropped.
        runtime.shutdown_timeout(Duration::from_secs(10));
    });

    thread::sleep(window / 5);
    let look = || (Instant::now(), sum(&counters), sum(&works), cpu());
    let (begin, rounds, work, used) = look();
    // A machine that is full may have no loop go round for a while.
    let (end, more_rounds, more_work, more_used) = loop {
        thread::sleep(window);
        let seen = look();
        if seen.1 > rounds || seen.0 - begin > PATIENCE {
            break seen;
        }
    };
    stop.store(true, Ordering::SeqCst);
    if let Some(waker) = Mutex::lock(&waker).expect("no panic").take() {
        waker.wake();
    }
    drives.join().expect("no panic");

    let seconds = (end - begin).as_secs_f64();
    let cpu = more_used.zip(used).map_or(f64::NAN, |(more, used)| {
        (more - used).as_secs_f64() / seconds
    });
    ensure!(
        more_rounds > rounds,
        "{}: no loop goes round",
        T::SIDE.name()
    );
    Ok(Did {
        rounds: (more_rounds - rounds) as f64 / seconds,
        cpu,
        work: (more_work - work) as f64 / seconds / cpu,
    })
}

fn sum(counters: &[Arc<Counter>]) -> u64 {
    counters.iter().map(|counter| counter.get()).sum()
}
