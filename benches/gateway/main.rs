//! An HTTP gateway: a service that arms a timer for every call, every request and every head, and needs almost none of them.
//!
//! ```text
//! client ──request──▶ gateway ──call──▶ backend 1   each call under its own timeout,
//!        ◀──answer───         ──call──▶ backend 2   the request under a `TimeoutLayer`,
//!                             ──call──▶ backend …   its head under hyper's header-read timer
//! ```
//!
//! The gateway runs on `tokio::time` and on tokio-wheel, each on a new runtime. The clients and the backends (`outside.rs`) are
//! another process, which always has Tokio's timers. Requests arrive at a fixed rate on average, at random times, whether
//! others are answered or not. The number of a call determines whether it is ever answered. So it is known what the timers
//! must do, and the program checks it after each run.
//!
//! ```text
//! cargo run --release -p gateway                                             # a minute and a half
//! RUSTFLAGS="--cfg tokio_unstable" cargo run --release -p gateway            # with Tokio's alternative timer
//! RUSTFLAGS="--cfg tokio_unstable" cargo run --release -p gateway -- --workers 16
//! cargo run --release -p gateway -- --stalled 50000 --rate 1000 --seconds 14 # a backend stops answering; `stall.rs`
//! cargo run --release -p gateway -- --stalled 20000 --steady --rate 1000 --seconds 12
//! ```

mod gateway;
mod outside;
mod server;
mod stall;

use std::env;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use common::conditions::Conditions;
use common::process::cpu_time;
use common::table::{self, LEGEND, Table, Unit, about_bold, markdown, number, title};
use common::{alternate, println, processors, thousands, within};
use hyper_util::server::conn::auto::Builder;
use timers::{Alt, Timers as _, Tokio, Wheel};

use crate::server::Stack;

/// Backends, each of which gets one call of every request.
const BACKENDS: u64 = 4;
/// Clients that stop in the middle of a head.
const SILENT: u64 = 3;
/// How long before its deadline the last of the requests that stall is sent.
const REST: Duration = Duration::from_secs(1);
const CALL_TIMEOUT: Duration = Duration::from_millis(250);
const REQUEST_TIMEOUT: Duration = Duration::from_secs(1);
/// How long a connection may take for the head of its next request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(2);
/// One call in this many is never answered; no two of them in one request.
const CALLS_PER_NEVER: u64 = 1_000;

/// An HTTP gateway on Tokio's timers and on tokio-wheel. Raw results go to standard error
#[derive(Debug, Parser)]
struct Options {
    /// Rounds, each of which runs every implementation, in alternating order
    #[arg(long, default_value_t = 8, value_parser = within::<usize>(1..=1000))]
    rounds: usize,
    /// Seconds measured per run, after a second of warm-up
    #[arg(long, default_value_t = 4, value_parser = within::<u64>(1..=3600))]
    seconds: u64,
    /// Requests per second
    #[arg(long, default_value_t = 2_000, value_parser = within::<u64>(100..=100_000))]
    rate: u64,
    /// Requests that need a backend which does not answer, and have one deadline, or with `--steady` one each
    #[arg(long, default_value_t = 0, value_parser = within::<u32>(0..=1_000_000))]
    stalled: u32,
    /// With `--stalled`: each of these requests times out a second after it was sent
    #[arg(long, requires = "stalled")]
    steady: bool,
    /// Workers of the gateway [default: one per processor]
    #[arg(long, value_parser = within::<usize>(1..=1024))]
    workers: Option<usize>,
    /// Be the clients and the backends
    #[arg(long, hide = true)]
    outside: bool,
}

impl Options {
    fn requests(&self) -> u64 {
        self.rate * (1 + self.seconds)
    }
}

/// A count that all workers increment.
#[derive(Debug, Default)]
struct Count(AtomicU64);

impl Count {
    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn add(&self, number: u64) {
        self.0.fetch_add(number, Ordering::Relaxed);
    }
}

/// What the gateway counts.
#[derive(Debug, Default)]
struct Tally {
    /// Connections that the timer for heads closed.
    timed_out: Count,
    requests: Count,
    /// Requests that stalled in time before their deadline.
    stalled: Count,
    /// Calls whose answer is part of the answer to a request, and those that the timeout ended.
    answered: Count,
    call_fired: Count,
    /// Timers that fired before their time; there must be none.
    early: Count,
}

/// What is measured, in nanoseconds.
const VALUES: [&str; 5] = [
    "time of a request, median",
    "time of a request, 99th percentile",
    "of which the gateway adds, median",
    "of which the gateway adds, 99th percentile",
    "CPU per request",
];
type Values = [f64; VALUES.len()];

/// What is measured if requests stall, from their first deadline until the last of them is answered, except CPU time. The
/// last error's time counts from its own deadline.
const OUTAGE: [&str; VALUES.len()] = [
    "`/health`, longest",
    "`/health`, 99th percentile",
    "added to other requests, 99th percentile",
    "last error of a stalled request after",
    "CPU per request",
];

fn main() -> Result<()> {
    let options = Options::parse();
    ensure!(
        options.stalled == 0 || options.seconds > 2,
        "--stalled needs --seconds 3 or more"
    );
    if options.outside {
        return outside::run(&options);
    }
    let mut all = vec![(Tokio::NAME, run::<Tokio> as fn(&Options) -> Result<Values>)];
    all.extend(cfg!(tokio_unstable).then_some((Alt::NAME, run::<Alt> as _)));
    all.push((Wheel::NAME, run::<Wheel>));
    let conditions = Conditions::watch();
    let mut runs = vec![Vec::new(); all.len()];
    for (round, at) in alternate(options.rounds, all.len()) {
        let (name, run) = all[at];
        let values = run(&options).context(name)?;
        eprintln!("{name}, round {}: {values:?}", round + 1);
        runs[at].push(values);
        conditions.sample();
    }
    conditions.warn();
    let names: Vec<_> = all.iter().map(|(name, _)| *name).collect();
    let table = table(&names, &runs, options.stalled > 0, conditions.mark()).to_string();
    println!("{table}\n\n{LEGEND}{}", about_bold(&table));
    let [rate, stalled] = [options.rate, options.stalled.into()].map(thousands);
    let apart = if options.steady {
        ", one after another"
    } else {
        ""
    };
    let workers = options.workers.unwrap_or(processors());
    println!(
        "{rate} requests per second, each with {BACKENDS} calls, and {stalled} that stall{apart}. {workers} workers. {conditions} \
         All counts are as expected, and no timer fired early."
    );
    Ok(())
}

/// Returns the table of what each round of each implementation measured. During a stall, rounds differ too much for their
/// ratios to mean anything.
fn table(names: &[&str], runs: &[Vec<Values>], stalls: bool, mark: &str) -> Table {
    let ratios = if stalls { &[] } else { &names[1..] };
    let header = names.iter().map(|name| title(name).to_owned());
    let header = header.chain(ratios.iter().map(|name| format!("{name} ÷ Tokio")));
    let mut table = markdown(["measured".to_owned()].into_iter().chain(header));
    let measured = if stalls { OUTAGE } else { VALUES };
    for (at, what) in measured.into_iter().enumerate() {
        let of = |side: &Vec<Values>| side.iter().map(|run| run[at]).collect();
        let sides: Vec<Vec<f64>> = runs.iter().map(of).collect();
        let ratios = sides.iter().skip(1).take(ratios.len());
        let ratios = ratios.map(|side| table::ratios(side, &sides[0], false));
        let cells = Unit::Nanos.cells(&sides).chain(ratios);
        let cells = cells.map(|cell| number(cell + mark));
        table.add_row([what.into()].into_iter().chain(cells));
    }
    table
}

fn run<T: Stack>(options: &Options) -> Result<Values> {
    let tally = Arc::<Tally>::default();
    let mut outside = Command::new(env::current_exe()?)
        .args(env::args_os().skip(1))
        .arg("--outside")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut printed = BufReader::new(outside.stdout.take().context("its output")?);
    let mut numbers = move || -> Result<Vec<f64>> {
        let mut line = String::new();
        printed.read_line(&mut line)?;
        let numbers = line.split_whitespace().map(str::parse);
        Ok(numbers.collect::<Result<_, _>>()?)
    };
    let runtime = T::runtime(options.workers.unwrap_or(processors()));
    let ports = numbers()?.into_iter().map(|port| port as u16).collect();
    let routes = gateway::routes::<T>(ports, Arc::clone(&tally));
    let start = |version| {
        let (_guard, tally) = (runtime.enter(), Arc::clone(&tally));
        server::start::<T>(routes.clone(), HEAD_TIMEOUT, tally, version)
    };
    let (gateway, http2) = (start(Builder::http1_only)?, start(Builder::http2_only)?);
    let before = cpu_time().context("/proc/self/stat")?;
    let mut input = outside.stdin.take().context("its input")?;
    writeln!(input, "{gateway} {http2}")?;
    let measured = numbers()?;
    ensure!(outside.wait()?.success(), "the clients failed");
    let cpu = cpu_time().context("/proc/self/stat")? - before;
    let [received, early, first, second, third, fourth] = measured[..] else {
        anyhow::bail!("the clients printed {measured:?}");
    };
    check(options, &tally, received as u64, early as u64)?;
    let requests = options.requests() + u64::from(options.stalled);
    let cpu = 1e9 * cpu.as_secs_f64() / requests as f64;
    Ok([first, second, third, fourth, cpu])
}

/// Returns an error if a count is not what it must be.
///
/// Under load an answer may be late although the plan has it in time, so a timer may fire more often than planned. If
/// the machine stops for longer than the two timeouts differ, both are due when it continues, and the request's may
/// win.
fn check(options: &Options, tally: &Tally, received: u64, early: u64) -> Result<()> {
    let requests = options.requests();
    let never = requests * BACKENDS / CALLS_PER_NEVER;
    let stalled = u64::from(options.stalled);
    let (exactly, at_least) = (|count| count..=count, |count| count..=u64::MAX);
    for (what, expected, found) in [
        ("requests", exactly(requests), tally.requests.get()),
        ("stalled in time", exactly(stalled), tally.stalled.get()),
        ("answered calls", exactly(tally.answered.get()), received),
        (
            "calls that timed out",
            at_least(stalled + never - never / 10),
            tally.call_fired.get(),
        ),
        (
            "timers that fired early",
            exactly(0),
            tally.early.get() + early,
        ),
        ("silent clients", at_least(SILENT), tally.timed_out.get()),
    ] {
        ensure!(
            expected.contains(&found),
            "{what}: {found}, expected {expected:?}"
        );
    }
    Ok(())
}
