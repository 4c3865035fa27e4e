//! Runs published crates, and programs with timers of their own, under load: on Tokio, on Tokio's alternative timer, and on
//! tokio-wheel, by changing the import or by patching the whole dependency tree. All are built from the same sources and one
//! lock file.
//!
//! ```text
//! cargo run --release --manifest-path benches/programs/Cargo.toml                  # builds all programs, prints the table
//! cargo run --release --manifest-path benches/programs/Cargo.toml -- ractor kameo  # only these programs
//! cargo run --release --manifest-path benches/programs/Cargo.toml -- --workers 16 tower  # more workers than processors
//! ```
//!
//! This is the runner. It builds each program in `bin` alone, for each implementation, and starts it as
//! `PROGRAM run SECONDS SIZE`. Some programs use two processes: they start the other end of their connections as
//! `PROGRAM peer NUMBER`, always from the build with Tokio's timers.

use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use clap::Parser;
use common::conditions::Conditions;
use common::within;

use crate::program::{ALL, Program};
use crate::side::Side;

mod program;
mod report;
mod rounds;
mod side;

/// Runs programs under load, on Tokio's timers and on tokio-wheel, and prints a table. Raw results go to standard error.
#[derive(Parser)]
struct Options {
    /// The programs to run [default: all, or with `--workers` all that have workers]
    #[arg(value_parser = Program::names())]
    programs: Vec<String>,
    /// Rounds per program; each round runs every implementation, in alternating order. With 0, only builds
    #[arg(long, default_value_t = 3, value_parser = within::<usize>(0..=1000))]
    rounds: usize,
    /// Seconds measured per run, after a second of warm-up
    #[arg(long, default_value_t = 4, value_parser = within::<u64>(1..=3600))]
    seconds: u64,
    /// Workers of each program [default: 2]
    #[arg(long, value_parser = within::<usize>(1..=1024))]
    workers: Option<usize>,
    /// What to compare with Tokio [default: all that the program can run on, but `bare`]
    #[arg(long, value_delimiter = ',')]
    sides: Vec<Side>,
    /// Another checkout of this repository, whose tokio-wheel is compared, too, in the patched tree
    #[arg(long)]
    other: Option<PathBuf>,
}

fn main() -> Result<()> {
    let options = Options::parse();
    if cfg!(debug_assertions) {
        bail!("a debug build measures nothing: add --release");
    }
    let runs = |one: &&Program| match options.programs.as_slice() {
        [] => options.workers.is_none() || one.has_workers(),
        named => named.iter().any(|name| name == one.name),
    };
    let mut builds = Vec::new();
    for program in ALL.iter().filter(runs) {
        builds.push((program, side::build_all(program, &options)?));
    }
    let conditions = Conditions::watch();
    let (mut rows, mut failed) = (Vec::new(), Vec::new());
    for (program, binaries) in builds {
        // A program that fails must not stop the others.
        match rounds::run(program, &binaries, &options, &conditions) {
            Ok(rounds) => rows.push((program, rounds)),
            Err(error) => failed.push(format!("{error:#}")),
        }
    }
    if options.rounds > 0 && !rows.is_empty() {
        report::print(&rows);
        let workers = options.workers.unwrap_or(2);
        println!("{workers} workers. {conditions}");
    }
    ensure!(failed.is_empty(), "{}", failed.join("; "));
    Ok(())
}
