//! Compares timers finer than a millisecond: tokio-wheel with high resolution, Tokio, and the other crates that have them.
//!
//! ```text
//! cargo bench -p precise                                 # the table, about 5 minutes
//! cargo bench -p precise -- --rounds 1 --seconds 0.5     # half a minute
//! ```
//!
//! On two workers, 1, 100 and 2,000 tasks sleep again and again for random 1 to 5 ms, the same for every
//! implementation. *Late* is the time from the deadline to the line after `await`. *CPU* is the time of the whole
//! process. With tokio-timerfd and tokio-timerd, a sleeper resets one `Delay`, because that takes fewer system calls
//! than a new one for each sleep. The second table has timeouts of one second around work that is ready.
//!
//! Each run is in a process of its own. strace, which slows system calls down, counts those of the whole process in a
//! further, shorter run; they are divided by all its sleeps. They are not counted if strace is not installed or may not
//! trace.

use std::env;
use std::fs;
use std::process::{Command, id};
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::Parser;
use common::conditions::Conditions;
use common::process::numbers;
use common::table::{Cell, markdown, number, spread};
use common::{alternate, println, thousands};
use timers::{Precise, Timers, Tokio, Wheel};

use crate::peers::{Hrtime, Timerd, Timerfd};

mod peers;
mod workload;

#[derive(Parser)]
#[command(
    about = "Measures timers finer than a millisecond",
    bin_name = "cargo bench -p precise --"
)]
struct Arguments {
    /// Rounds, each of which runs every implementation once, in alternating order
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Seconds measured per run, after half a second of warm-up
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Be the measured program, with this implementation and this many sleepers
    #[arg(long, hide = true, num_args = 2)]
    play: Vec<String>,
    /// Passed by `cargo bench`. Without it, as under `cargo test`, nothing is measured
    #[arg(long, hide = true)]
    bench: bool,
}

/// Numbers of sleepers. With none, timeouts are put around ready work.
const SLEEPERS: [u64; 4] = [1, 100, 2_000, 0];
const TIMEOUTS: u64 = 100_000;

/// An implementation, and the function that runs it.
type Implementation = (&'static str, fn(u64, Duration) -> Result<()>);

fn play<T: Timers, const RESETS: bool>(sleepers: u64, time: Duration) -> Result<()> {
    match sleepers {
        0 => workload::around_ready::<T>(TIMEOUTS),
        _ => workload::sleepers::<T>(sleepers, time, RESETS),
    }
}

const ALL: [Implementation; 6] = [
    (Tokio::NAME, play::<Tokio, false>),
    (Wheel::NAME, play::<Wheel, false>),
    (Precise::<50>::NAME, play::<Precise<50>, false>),
    (Timerfd::NAME, play::<Timerfd, true>),
    (Hrtime::NAME, play::<Hrtime, false>),
    (Timerd::NAME, play::<Timerd, true>),
];

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if let [name, sleepers] = arguments.play.as_slice() {
        let mut all = ALL.iter();
        let (_, play) = all.find(|(one, _)| one == name).context("no such name")?;
        return play(
            sleepers.parse()?,
            Duration::from_secs_f64(arguments.seconds),
        );
    }
    if !arguments.bench {
        println!("Measures for some minutes under `cargo bench`; see --help.");
        return Ok(());
    }
    let conditions = Conditions::watch();
    let mut sleeps = markdown([
        "sleepers",
        "implementation",
        "late, p50, µs",
        "late, p99, µs",
        "CPU per sleep, µs",
        "system calls per sleep",
        "descriptors",
    ]);
    let mut timeouts = markdown([
        "around ready work",
        "ns per timeout",
        "system calls per timeout",
    ]);
    for sleepers in SLEEPERS {
        let mut runs = vec![Vec::new(); ALL.len()];
        for (_, at) in alternate(arguments.rounds, ALL.len()) {
            conditions.sample();
            let this = Command::new(env::current_exe()?);
            runs[at].push(run(this, ALL[at].0, sleepers, arguments.seconds)?);
        }
        for ((name, _), runs) in ALL.iter().zip(runs) {
            let show = |at: usize, digits| {
                let values: Vec<_> = runs.iter().map(|run: &Vec<f64>| run[at]).collect();
                number(spread(&values, digits))
            };
            let calls = calls(name, sleepers, arguments.seconds / 2.0)?;
            let calls = number(calls.map_or("–".to_owned(), |calls| format!("{calls:.2}")));
            let name = Cell::new(name);
            if sleepers == 0 {
                timeouts.add_row([name, show(0, 0), calls]);
            } else {
                let (count, [p50, p99]) =
                    (number(thousands(sleepers)), [0, 1].map(|at| show(at, 0)));
                sleeps.add_row([count, name, p50, p99, show(2, 2), calls, show(3, 0)]);
            }
        }
    }
    conditions.warn();
    println!("{sleeps}\n\n{timeouts}\n\n{conditions}");
    Ok(())
}

/// Adds this program's arguments to a command, and returns what the program printed.
fn run(mut command: Command, name: &str, sleepers: u64, seconds: f64) -> Result<Vec<f64>> {
    command.args(["--seconds", &seconds.to_string()]);
    numbers(command.args(["--play", name, &sleepers.to_string()]))
}

/// Returns the number of system calls per sleep or timeout, if strace can count them.
fn calls(name: &str, sleepers: u64, seconds: f64) -> Result<Option<f64>> {
    let mut traces = Command::new("strace");
    let traces = traces.args(["-qq", "-o", "/dev/null", "true"]).status();
    if !traces.is_ok_and(|status| status.success()) {
        return Ok(None);
    }
    let path = env::temp_dir().join(format!("precise-{}", id()));
    let mut strace = Command::new("strace");
    strace.args(["-f", "-c", "-o"]).arg(&path);
    strace.arg(env::current_exe()?);
    let values = run(strace, name, sleepers, seconds)?;
    let summary = fs::read_to_string(&path)?;
    fs::remove_file(&path)?;
    // % time, seconds, µs per call, calls, and the errors if there are any.
    let total = summary.lines().find(|line| line.ends_with(" total"));
    let calls = total.and_then(|total| total.split_whitespace().nth(3));
    let calls: f64 = calls.context("no total of strace's")?.parse()?;
    Ok(values.last().map(|all| calls / all))
}
