//! Counts what an operation of a timer touches: instructions, cache lines of code, and cache lines of data.
//!
//! ```text
//! cargo bench -p footprint                       # counts everything and prints a table
//! cargo bench -p footprint -- same crowd         # some shapes
//! cargo bench -p footprint -- --check            # compares with table.md, and fails if a count has risen
//! cargo bench -p footprint -- --accept           # writes the tables of table.md
//! ```
//!
//! Between two timers of a service, other work fills the caches. A timer then costs what it touches, and counts of that
//! are exact even on a busy machine.
//!
//! A program of its own (`played/`) runs a shape under valgrind's `lackey`, which prints every instruction and every
//! memory access. Each operation of the shape, or each of its parts, is enclosed by two marks, and no other thread runs
//! between them. The benchmark counts the instructions between the marks, the *different* lines of 64 bytes that are
//! executed, and the different lines that are read or written. The counts of `bare`, the same program without a timer,
//! are subtracted.
//!
//! The program is built twice: like `cargo build --release`, as most services are, and with link-time optimisation in
//! one piece. What helps in one build may harm in the other: small functions that are not marked to be inlined cost
//! nothing with link-time optimisation, and a tenth more without.
//!
//! Two runs count the same, because the program has a clock that advances by ten microseconds per reading (`clock.c`)
//! and always the same environment. `elsewhere` is an exception: its counts differed by 5 % in six runs. Cache lines of
//! code are averaged over the places where the linker may put a function. A change that moves memory by some bytes may
//! still add or remove a data line. So may another folder, or another machine. So the comparison allows 3 % more, but a
//! tenth more data lines, and 2.5 more of anything. Counts depend on the compiler and on Tokio, so nothing is compared
//! unless both have the versions that the table names. `.ci/run footprint` uses that compiler if rustup has it. Counts
//! also depend on libc, whose version is not checked.
//!
//! (Misses of a simulated cache would be too few, because its flush leaves lines of code in the first level.)
//!
//! The shape `fire` is a batch. Its cache lines are those of the whole batch, divided by the number of timers.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser;
use common::machine::Circumstances;
use common::println;

use crate::plan::Shape;
use crate::simulate::Simulator;
use crate::table::Table;

mod plan;
mod simulate;
mod table;
mod trace;

#[derive(Parser)]
#[command(
    about = "Counts what operations of timers touch",
    bin_name = "cargo bench -p footprint --"
)]
struct Arguments {
    /// Shapes to count [default: all]
    #[arg(value_enum)]
    shapes: Vec<Shape>,
    /// Compare with table.md, and fail if a count has risen
    #[arg(long, conflicts_with = "accept")]
    check: bool,
    /// Write the tables of table.md
    #[arg(long, conflicts_with = "shapes")]
    accept: bool,
    /// Passed by `cargo bench`. Without it, as under `cargo test`, nothing is counted
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    if !arguments.bench {
        println!("Counts for a minute or two under `cargo bench`; see --help.");
        return Ok(ExitCode::SUCCESS);
    }
    // The version of tokio-wheel comes first, and is not compared.
    let Circumstances { versions, .. } = Circumstances::look();
    let (_, versions) = versions.split_once(", ").context("three versions")?;
    let before = arguments.check.then(Table::read).transpose()?;
    if let Some(before) = before.as_ref().filter(|before| before.versions != versions) {
        let then = &before.versions;
        println!("NOT COMPARED: table.md was counted with {then}, and this is {versions}");
        return Ok(ExitCode::SUCCESS);
    }
    let Some(simulator) = Simulator::new()? else {
        println!("NOT COUNTED: valgrind is not installed");
        return Ok(ExitCode::SUCCESS);
    };
    let table = Table {
        versions: versions.to_owned(),
        rows: plan::count(&simulator, &arguments.shapes)?,
    };
    println!("{}", table.print());
    if arguments.accept {
        table.write()?;
    }
    if let Some(before) = before {
        if table.is_more_than(&before) {
            println!(
                "A count has risen by more than it may. If that is intended, run with `--accept`."
            );
            return Ok(ExitCode::FAILURE);
        }
        println!("No count has risen by more than it may.");
    }
    Ok(ExitCode::SUCCESS)
}
