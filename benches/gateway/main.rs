//! An HTTP gateway, its backends and its clients, all on this machine: a service that arms a timer for every call, every
//! request and every head, and needs almost none of them.
//!
//! ```text
//! client ──request──▶ gateway ──call──▶ backend 1   each call under its own timeout,
//!        ◀──answer───         ──call──▶ backend 2   the request under a `TimeoutLayer`,
//!                             ──call──▶ backend …   its head under hyper's header-read timer
//! ```
//!
//! The same work runs on `tokio::time` and on tokio-wheel, each on a new runtime. A call's number determines whether it is slow
//! and whether it is ever answered. So it is known what the timers must do, and the program checks it after each run.
//!
//! `cargo run --release -p gateway`

mod client;
mod gateway;
mod server;

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use common::conditions::Conditions;
use common::process::cpu_time;
use common::table::{Table, row, spread, terminal};
use common::{alternate, println, processors};
use timers::{Tokio, Wheel};
use tokio::time::timeout;

use crate::client::Latency;
use crate::server::Stack;

/// Rounds, each of which runs both implementations, in alternating order.
const ROUNDS: usize = 8;
/// Backends, each of which gets one call of every request.
const BACKENDS: u64 = 4;
/// Clients, each of which sends its next request when the last one is answered.
const CLIENTS: u64 = 64;
/// Clients that stop in the middle of a head.
const SILENT: u64 = 3;
const REQUESTS: u64 = 500 * CLIENTS;
const CALL_TIMEOUT: Duration = Duration::from_millis(250);
const REQUEST_TIMEOUT: Duration = Duration::from_secs(1);
/// How long a connection may take for the head of its next request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(2);

/// One call in this many is answered late, but in time.
const CALLS_PER_SLOW: u64 = 10;
const SLOW: Duration = Duration::from_millis(20);
/// One call in this many is never answered; no two of them in one request.
const CALLS_PER_NEVER: u64 = 1_000;

/// Much longer than a run takes.
const GIVE_UP: Duration = Duration::from_secs(150);

/// A count that all workers increment.
#[derive(Debug, Default)]
struct Count(AtomicU64);

impl Count {
    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns the count before the addition.
    fn add(&self, number: u64) -> u64 {
        self.0.fetch_add(number, Ordering::Relaxed)
    }
}

/// What the gateway, the backends and the clients count.
#[derive(Debug, Default)]
struct Tally {
    /// Connections to the gateway, and those that the timer for heads closed.
    opened: Count,
    timed_out: Count,
    requests: Count,
    calls: Count,
    /// Calls whose answer is part of the answer to a request, and those that a client has received.
    answered: Count,
    received: Count,
    call_fired: Count,
    /// Requests that the gateway's timeout ended, and answers without one or more of the backends.
    partial: Count,
    /// Timers that fired before their time; there must be none.
    early: Count,
}

/// The result of a run.
#[derive(Debug)]
struct Run {
    name: &'static str,
    tally: Arc<Tally>,
    latency: Latency,
    took: Duration,
    cpu: Option<Duration>,
}

fn main() -> Result<()> {
    println!(
        "{ROUNDS} rounds of {REQUESTS} requests. A request makes {BACKENDS} calls. One call in {CALLS_PER_NEVER} is never \
         answered, and {SILENT} of {} clients stop in the middle of a request.",
        CLIENTS + SILENT
    );
    let conditions = Conditions::watch();
    let both = [run::<Tokio>, run::<Wheel>];
    let mut runs = both.map(|_| Vec::new());
    for (_, at) in alternate(ROUNDS, both.len()) {
        let run = both[at]()?;
        check(&run)?;
        runs[at].push(run);
        conditions.sample();
    }
    conditions.warn();
    println!("{}", table(&runs, conditions.mark()));
    println!("{conditions}");
    println!("All counts are as expected, and no timer fired early.");
    Ok(())
}

fn run<T: Stack>() -> Result<Run> {
    let before = cpu_time();
    let tally = Arc::<Tally>::default();
    let work = async { client::run_all(start::<T>(&tally)?, &tally).await };
    let runtime = T::runtime(processors());
    // This timeout always uses Tokio's timer, which notices if the measured timers lose a wake-up.
    let ended = runtime.block_on(async { timeout(GIVE_UP, work).await });
    let ended = ended.context("a timer was lost, or this is too much work");
    let (latency, took) = ended.and_then(|all| all).context(T::NAME)?;
    drop(runtime);
    Ok(Run {
        name: T::NAME,
        tally,
        latency,
        took,
        cpu: cpu_time().zip(before).map(|(after, before)| after - before),
    })
}

/// Starts a gateway and its backends in this runtime. Returns the gateway's address.
fn start<T: Stack>(tally: &Arc<Tally>) -> Result<SocketAddr> {
    let backend = |_| {
        // Much longer than the gateway keeps a connection that it does not use.
        let head = Duration::from_secs(600);
        server::start::<T>(gateway::calls::<T>(), head, Arc::default())
    };
    let backends = (0..BACKENDS).map(backend).collect::<Result<_>>()?;
    let routes = gateway::routes::<T>(backends, Arc::clone(tally));
    server::start::<T>(routes, HEAD_TIMEOUT, Arc::clone(tally))
}

fn table(runs: &[Vec<Run>], mark: &str) -> Table {
    let mut table = terminal(runs.iter().map(|runs| runs[0].name));
    let mut add = |label: &str, digits, value: &dyn Fn(&Run) -> f64| {
        let cell = |runs: &Vec<Run>| {
            let values: Vec<_> = runs.iter().map(value).collect();
            format!("{}{mark}", spread(&values, digits))
        };
        table.add_row(row(label, runs.iter().map(cell)));
    };
    add("requests per second", 0, &|run| {
        REQUESTS as f64 / run.took.as_secs_f64()
    });
    for (label, quantile) in [
        ("latency p50, ms", 0.5),
        ("  p99", 0.99),
        ("  p99.9", 0.999),
    ] {
        add(label, 2, &|run| {
            run.latency.value_at_quantile(quantile) as f64 / 1e3
        });
    }
    // This is the CPU time of the whole process, which includes the clients, the gateway and the backends.
    add("CPU time per request, µs", 1, &|run| {
        let cpu = run.cpu.map_or(f64::NAN, |cpu| cpu.as_secs_f64());
        1e6 * cpu / REQUESTS as f64
    });
    table
}

/// Returns an error if a count is not what it must be.
fn check(run: &Run) -> Result<()> {
    for (what, expected, found) in counts(run) {
        let (name, what) = (run.name, what.trim());
        ensure!(
            expected.contains(&found),
            "{name}: {what}: {found}, expected {expected:?}"
        );
    }
    Ok(())
}

/// Returns the name of each count, what it must be, and what it is.
///
/// Under load an answer may be late although the plan has it in time, so a timer may fire more often than planned. If
/// the machine stops for longer than the two timeouts differ, both are due when it continues, and the request's may
/// win.
fn counts(run: &Run) -> [(&'static str, RangeInclusive<u64>, u64); 9] {
    let tally = &run.tally;
    let (exactly, at_least) = (|count| count..=count, |count| count..=u64::MAX);
    let (calls, never) = (REQUESTS * BACKENDS, REQUESTS * BACKENDS / CALLS_PER_NEVER);
    let (answered, opened) = (tally.answered.get(), tally.opened.get());
    let closed = opened.saturating_sub(CLIENTS);
    [
        ("requests", exactly(REQUESTS), tally.requests.get()),
        ("  answered", exactly(REQUESTS), run.latency.len()),
        ("  in part or late", at_least(never), tally.partial.get()),
        ("calls", exactly(calls), tally.calls.get()),
        ("  answered", exactly(answered), tally.received.get()),
        (
            "  timed out",
            at_least(never - never / 10),
            tally.call_fired.get(),
        ),
        ("timers that fired early", exactly(0), tally.early.get()),
        ("connections", at_least(CLIENTS + SILENT), opened),
        ("  without a head", exactly(closed), tally.timed_out.get()),
    ]
}
