//! Published crates under load, built from the same sources and lock file on tokio and, with the whole tree, on
//! tokio-wheel.
//!
//! ```text
//! cargo run --release --manifest-path benches/programs/Cargo.toml                  # builds both implementations, prints the table
//! cargo run --release --manifest-path benches/programs/Cargo.toml -- ractor kameo  # only these programs
//! ```
//!
//! This binary is three things: the runner, which is what you call; each program, which the runner starts as
//! `programs run NAME SECONDS` from the build of each implementation; and the other end of a program's connections, which
//! the program starts as `programs peer NAME NUMBER`, always from tokio's build.

use std::env;

use anyhow::{Result, bail};
use clap::{Parser, ValueEnum};
use common::conditions::Conditions;

use crate::program::Program;
use crate::side::Side;

mod delay;
#[cfg(feature = "newer")]
mod kameo;
mod load;
mod nested;
mod peer;
mod program;
mod ractor;
#[cfg(feature = "newer")]
mod redis;
mod report;
mod rounds;
mod side;
mod sntp;
mod timers;

/// Runs published crates under load, on tokio and with the whole tree on tokio-wheel, and prints a table.
#[derive(Parser)]
struct Options {
    /// The programs to run; all of them if none is named
    programs: Vec<Program>,
    /// Rounds per program; each round runs every implementation, in alternating order. With 0, only builds
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Seconds measured per run, after a second of warm-up
    #[arg(long, default_value_t = 4.0)]
    seconds: f64,
    /// Further implementations to compare with tokio
    #[arg(long)]
    with: Vec<Side>,
}

fn main() -> Result<()> {
    let arguments: Vec<_> = env::args().collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    match arguments[1..] {
        ["run", program, seconds] => named(program)?.run(seconds.parse()?),
        ["peer", program, number] => named(program)?.peer(number.parse()?),
        _ => compare(Options::parse()),
    }
}

fn named(program: &str) -> Result<Program> {
    Program::from_str(program, false).map_err(anyhow::Error::msg)
}

/// Builds every side, runs all rounds, and prints the table.
fn compare(options: Options) -> Result<()> {
    if cfg!(debug_assertions) {
        bail!("a debug build measures nothing: add --release");
    }
    let programs = match &options.programs[..] {
        [] => Program::value_variants(),
        programs => programs,
    };
    let sides: Vec<_> = [Side::Tokio, Side::Tree]
        .into_iter()
        .chain(options.with)
        .map(|side| Ok((side, side.build()?)))
        .collect::<Result<_>>()?;
    let conditions = Conditions::watch();
    let mut table = report::table();
    for &program in programs {
        let rounds = rounds::run(program, &sides, options.rounds, options.seconds)?;
        report::add(&mut table, program, &rounds);
    }
    println!("{table}\n\n{conditions}");
    Ok(())
}
