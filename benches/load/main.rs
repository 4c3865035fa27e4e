//! Timers under load, tokio's side being the measure of ours.
//!
//! | command | measures |
//! | --- | --- |
//! | `cargo bench -p load -- loops` | rounds and CPU of tasks that do nothing but wait for very short timers |
//! | `cargo bench -p load -- stall` | the longest stall of a worker of real-time priority that shares its processor with another thread |
//!
//! Lateness beside other load: `cargo run --release -p fanout -- --busy 2 --rounds 10`.
//!
//! | file | one idea |
//! | --- | --- |
//! | `loops.rs` | the loops, and the table of them |
//! | `rounds.rs` | what one loop does in a round |
//! | `stall.rs` | a worker of real-time priority beside a normal thread |
//!
//! The two sides take turns, in changing order, and ratios are medians of the rounds': what the
//! machine does meanwhile meets both.

mod loops;
mod rounds;
mod stall;

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
}

fn main() -> Result<()> {
    match Arguments::parse().command {
        None => loops::run(&loops::Options::least()),
        Some(Measure::Loops(options)) => loops::run(&options),
        Some(Measure::Stall(options)) => stall::run(&options),
    }
}
