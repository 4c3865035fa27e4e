//! Runs published crates under load. Except one line of hydra, they are built from the same sources and one lock file,
//! on Tokio and, by patching the whole dependency tree, on tokio-wheel.
//!
//! ```text
//! cargo run --release --manifest-path benches/programs/Cargo.toml                  # builds all programs, prints the table
//! cargo run --release --manifest-path benches/programs/Cargo.toml -- ractor kameo  # only these programs
//! ```
//!
//! This is the runner. It builds each program in `bin` alone, for each implementation, and starts it as
//! `PROGRAM run SECONDS SIZE`. Some programs use two processes: they start the other end of their connections as
//! `PROGRAM peer NUMBER`, always from the build with Tokio's timers.

use anyhow::{Result, bail, ensure};
use clap::Parser;
use common::conditions::Conditions;

use crate::program::{ALL, Program};
use crate::side::Side;

mod program;
mod report;
mod rounds;
mod side;

/// Runs published crates under load, on Tokio and with the whole tree on tokio-wheel, and prints a table.
#[derive(Parser)]
struct Options {
    /// The programs to run; all of them if none is named
    #[arg(value_parser = Program::names())]
    programs: Vec<String>,
    /// Rounds per program; each round runs every implementation, in alternating order. With 0, only builds
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Seconds measured per run, after a second of warm-up
    #[arg(long, default_value_t = 4.0)]
    seconds: f64,
    /// Further implementations to compare with Tokio
    #[arg(long)]
    with: Vec<Side>,
}

fn main() -> Result<()> {
    let options = Options::parse();
    if cfg!(debug_assertions) {
        bail!("a debug build measures nothing: add --release");
    }
    let mut sides = vec![Side::Tokio, Side::Tree];
    sides.extend(options.with);
    let is_named = |one: &&Program| options.programs.iter().any(|name| name == one.name);
    let all = ALL.iter();
    let programs = all.filter(|one| options.programs.is_empty() || is_named(one));
    let mut builds = Vec::new();
    for program in programs {
        builds.push((program, side::build_all(program, &sides)?));
    }
    let conditions = Conditions::watch();
    let (mut table, mut failed) = (report::table(), Vec::new());
    for (program, binaries) in builds {
        // A program that fails must not stop the others.
        match rounds::run(program, &binaries, options.rounds, options.seconds) {
            Ok(rounds) => report::add(&mut table, program, &rounds),
            Err(error) => failed.push(format!("{error:#}")),
        }
    }
    println!("{table}\n\n{conditions}");
    ensure!(failed.is_empty(), "{}", failed.join("; "));
    Ok(())
}
