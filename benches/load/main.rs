//! Timers under load, tokio's side being the measure of ours.
//!
//! | command | measures |
//! | --- | --- |
//! | `cargo bench -p load -- loops` | rounds and CPU of tasks that do nothing but wait for very short timers |
//! | `cargo bench -p load -- stall` | the longest stall of a worker of real-time priority that shares its processor with another thread |
//! | `cargo bench -p load -- fanout` | how late the timers of the example `fanout` are beside busy programs |
//!
//! | file | one idea |
//! | --- | --- |
//! | `loops.rs` | the loops, and the table of them |
//! | `rounds.rs` | what one loop does in a round |
//! | `stall.rs` | a worker of real-time priority beside a normal thread |
//! | `fanout.rs` | pairs of runs of `fanout` |
//! | `timers.rs` | both sides' timers by one name |
//! | `process.rs` | what the kernel counts for this process; busy programs |
//!
//! The two sides take turns, in changing order, and ratios are medians of the rounds': what the
//! machine does meanwhile meets both.

mod fanout;
mod loops;
mod process;
mod rounds;
mod stall;
mod timers;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    about = "Measures timers under load",
    bin_name = "cargo bench -p load --"
)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Measure>,
    /// Passed by `cargo bench`. Without it, as under `cargo test`, little is done.
    #[arg(long, hide = true, global = true)]
    bench: bool,
}

#[derive(Subcommand)]
enum Measure {
    /// Rounds and CPU of tasks that wait for very short timers
    Loops(loops::Options),
    /// The longest stall of a worker of real-time priority
    Stall(stall::Options),
    /// Lateness of the example `fanout` beside busy programs
    Fanout(fanout::Options),
    /// Keeps a processor busy until its standard input ends
    #[command(hide = true)]
    Spin,
}

fn main() -> ExitCode {
    common::go_where_cargo_was_called();
    let arguments = Arguments::parse();
    match run(arguments.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Option<Measure>) -> Result<()> {
    match command {
        None => loops::run(&loops::Options::least()),
        Some(Measure::Loops(options)) => loops::run(&options),
        Some(Measure::Stall(options)) => stall::run(&options),
        Some(Measure::Fanout(options)) => fanout::run(&options),
        Some(Measure::Spin) => {
            process::spin();
            Ok(())
        }
    }
}
