//! Compares tokio-wheel with `tokio::time` and other timers, benchmark by benchmark.
//!
//! ```text
//! cargo bench -p versus                      # a first look, less than a minute
//! cargo bench -p versus -- --all             # all benchmarks, a quarter of an hour
//! cargo bench -p versus -- repoll bytes      # some benchmarks
//! cargo bench -p versus -- --list            # their names
//! RUSTFLAGS="--cfg tokio_unstable" cargo bench …  # adds Tokio's alternative timer
//! ```
//!
//! All implementations run in one process (except in `peak`), round after round and in alternating order. A result is the
//! median of its rounds. Every workload says how many timers it reset, fired and cancelled. Raw results go to standard error.
//! A benchmark fails if two implementations did different work in a round.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use common::conditions::Conditions;
use common::println;
use common::table::{LEGEND, about_bold};

mod benchmark;
mod bytes;
mod cancel;
mod catalogue;
mod fire;
mod lateness;
mod peak;
mod pending;
mod report;
mod rivals;
mod stage;
mod waits;

#[derive(Parser)]
#[command(
    about = "Compares tokio-wheel with other implementations of timers",
    bin_name = "cargo bench -p versus --"
)]
struct Arguments {
    /// Benchmarks to run [default: a first look]
    #[arg(value_parser = common::names(catalogue::all().iter().map(|one| (one.name, one.about))))]
    names: Vec<String>,
    /// Run all benchmarks
    #[arg(long)]
    all: bool,
    /// List the benchmarks instead of running them
    #[arg(long)]
    list: bool,
    /// Rounds for each benchmark, each of which runs every implementation once
    #[arg(long, value_parser = common::within::<u32>(1..=1000))]
    rounds: Option<u32>,
    /// An implementation, and N if one timer in N is kept; set by `peak`
    #[arg(long, hide = true, num_args = 2)]
    peak: Vec<String>,
    /// Passed by `cargo bench`. Without it and without names, as under `cargo test`, nothing is measured
    #[arg(long, hide = true)]
    bench: bool,
}

const FIRST_LOOK: [&str; 4] = ["calls-2", "conns-2", "lateness-busy", "bytes"];

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let [name, one_in] = arguments.peak.as_slice() {
        println!("{}", peak::alone(name, one_in.parse().expect("a number")));
        return ExitCode::SUCCESS;
    }
    let mut benchmarks = catalogue::all();
    if arguments.list || !arguments.bench && arguments.names.is_empty() {
        for one in benchmarks {
            println!("{:21}  {}", one.name, one.about);
        }
        return ExitCode::SUCCESS;
    }
    benchmarks.retain(|one| {
        let names = &arguments.names;
        let is_first = names.is_empty() && FIRST_LOOK.contains(&one.name);
        arguments.all || is_first || names.iter().any(|name| name == one.name)
    });
    let conditions = Conditions::watch();
    let (mut results, mut failed) = (Vec::new(), false);
    for benchmark in &benchmarks {
        let begin = Instant::now();
        // A benchmark that fails reports why, and must not stop the others.
        let run = AssertUnwindSafe(|| benchmark.run(arguments.rounds, &conditions));
        let outcome = catch_unwind(run);
        let took = begin.elapsed().as_secs_f64();
        eprintln!("{} took {took:.1} s", benchmark.name);
        failed |= outcome.is_err();
        results.extend(outcome.ok().map(|measured| (benchmark, measured)));
    }
    conditions.warn();
    let tables = report::tables(&results, conditions.mark());
    println!("{tables}\n\n{LEGEND}{}\n{conditions}", about_bold(&tables));
    ExitCode::from(u8::from(failed))
}
