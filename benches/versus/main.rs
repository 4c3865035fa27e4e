//! Compares tokio-wheel with `tokio::time`, benchmark by benchmark.
//!
//! ```text
//! cargo bench -p versus                      # all benchmarks, some fifteen minutes
//! cargo bench -p versus -- --rounds 1        # a few minutes
//! cargo bench -p versus -- repoll bytes      # some benchmarks
//! cargo bench -p versus -- --list            # their names
//! RUSTFLAGS="--cfg tokio_unstable" cargo bench …  # adds Tokio's alternative timer
//! ```
//!
//! All implementations run in one process (except in `peak`), round after round and in alternating order. The result is
//! the median of the rounds' ratios. Every workload says how many timers it reset, fired and cancelled. A benchmark
//! fails if two implementations did different work in a round.
//!
//! `bare` is the same work without a timer, so no implementation can be faster. In a row *without bare*, its time is
//! subtracted from both medians, which leaves the time of the timers themselves, and the ratio is that of these
//! differences. (One below 1 counts as 1.)

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use common::conditions::Conditions;
use common::println;

use crate::report::Row;

mod benchmark;
mod bytes;
mod cancel;
mod catalogue;
mod fire;
mod lateness;
mod peak;
mod pending;
mod pingora;
mod report;
mod stage;
mod waits;

#[derive(Parser)]
#[command(
    about = "Compares tokio-wheel with other implementations of timers",
    bin_name = "cargo bench -p versus --"
)]
struct Arguments {
    /// Benchmarks to run [default: all]
    #[arg(value_parser = common::names(catalogue::all().iter().map(|one| (one.name, one.about))))]
    names: Vec<String>,
    /// List the benchmarks instead of running them
    #[arg(long)]
    list: bool,
    /// Rounds for each benchmark, each of which runs every implementation once
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: Option<u32>,
    /// An implementation, and N if one timer in N is kept; set by `peak`
    #[arg(long, hide = true, num_args = 2)]
    peak: Vec<String>,
    /// Passed by `cargo bench`. Without it and without names, as under `cargo test`, nothing is measured
    #[arg(long, hide = true)]
    bench: bool,
}

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
    let names = &arguments.names;
    benchmarks.retain(|one| names.is_empty() || names.iter().any(|name| name == one.name));
    let conditions = Conditions::watch();
    let (mut rows, mut failed) = (Vec::new(), false);
    for benchmark in &benchmarks {
        let begin = Instant::now();
        eprint!("{} … ", benchmark.name);
        // A benchmark that fails reports why, and must not stop the others.
        let run = AssertUnwindSafe(|| benchmark.run(arguments.rounds, &conditions));
        let outcome = catch_unwind(run);
        eprintln!("{:.1} s", begin.elapsed().as_secs_f64());
        failed |= outcome.is_err();
        rows.extend(
            outcome
                .into_iter()
                .flat_map(|measured| Row::all(benchmark, &measured)),
        );
    }
    conditions.warn();
    println!("{}", report::table(&rows, conditions.mark()));
    println!(
        "Ratio: the other result divided by tokio-wheel's, as the median of the rounds; above 1 tokio-wheel is better."
    );
    println!("{conditions}");
    ExitCode::from(u8::from(failed))
}
