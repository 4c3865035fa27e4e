//! What an operation of a timer touches: instructions, lines of code, lines of data.
//!
//! ```text
//! cargo bench -p footprint                       # counts everything, and prints a table
//! cargo bench -p footprint -- same crowd         # the shapes asked for
//! cargo bench -p footprint -- --check            # compares with table.md, and fails where more than 3 % is added
//! cargo bench -p footprint -- --accept           # writes table.md anew
//! ```
//!
//! Between two timers of a service, the caches are filled with something else. What a timer costs there is what it touches,
//! and that can be counted: exactly, on a busy machine as on a quiet one.
//!
//! A program of its own (`played/`) plays a shape under valgrind's `lackey`, which prints every instruction and every
//! access to memory. Each operation of the shape stands between two marks, and nothing else runs meanwhile. Of what is
//! between them the bench counts the instructions, the *different* lines of 64 bytes that were executed, and the different
//! ones that were read or written. From the counts of a side those of `bare`, the same program without a timer, are taken
//! off. Medians are not needed: two runs count the same.
//!
//! So that they do, the program's clock is one that moves by ten microseconds at each reading (`clock.c`), its environment is
//! empty, and it is built in a profile of its own, with link-time optimisation. What libc, the compiler and tokio
//! contribute still depends on their versions. The table names the compiler's and tokio's; where one of them differs, what is
//! compared is ours as a share of tokio's.
//!
//! # Beside a cache simulation
//!
//! Counting the misses of a simulated cache that is flushed between operations gives the same data lines, and fewer lines of
//! code: those that the flush leaves in the first level are missed (for `crowd` 46 of tokio's 53). A simulation of the whole
//! process also counts other threads, and what was counted so before had no timer that is due early, as services have, so
//! that each timer was the earliest and set the alarm anew: tokio's `same` came to 634 instructions, here 563, and ours to
//! 501, here 445. `set` was polled with bare wakers of no task; here the set is a real one.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Parser;
use clap::builder::{PossibleValue, PossibleValuesParser};
use common::machine::Circumstances;
use common::println;

use crate::compare::By;
use crate::plan::{Operation, Rows, SHAPES};
use crate::simulate::Simulator;
use crate::table::Table;

mod compare;
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
    /// The shapes to count; all without one.
    #[arg(value_parser = names())]
    shapes: Vec<String>,
    /// Compare with the table, and fail where an operation has become more.
    #[arg(long, conflicts_with = "accept")]
    check: bool,
    /// Write the table anew.
    #[arg(long, conflicts_with = "shapes")]
    accept: bool,
    /// Passed by `cargo bench`. Without it, as under `cargo test`, nothing is counted.
    #[arg(long, hide = true)]
    bench: bool,
}

fn names() -> PossibleValuesParser {
    let name = |(name, about)| PossibleValue::new(name).help(about);
    SHAPES.map(name).into()
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    if !arguments.bench {
        println!("Counts for a minute or two under `cargo bench`; see --help.");
        return Ok(ExitCode::SUCCESS);
    }
    let Some(simulator) = Simulator::new()? else {
        println!("NOT COUNTED: there is no valgrind here");
        return Ok(ExitCode::SUCCESS);
    };
    let rows = plan::count(&simulator, &Operation::all(&arguments.shapes))?;
    println!("{}", table::print(&rows));
    if arguments.accept {
        let versions = versions();
        Table { versions, rows }.write()?;
    } else if arguments.check {
        check(&rows)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What counts depend on besides this crate.
fn versions() -> String {
    let Circumstances { versions, .. } = Circumstances::new();
    // This crate's own comes first.
    let others = versions
        .split_once(", ")
        .map(|(_, others)| others.to_owned());
    others.unwrap_or(versions)
}

fn check(rows: &Rows) -> Result<()> {
    let table = Table::read()?;
    let now = versions();
    let by = if table.versions == now {
        By::Count
    } else {
        By::Share
    };
    if by == By::Share {
        println!(
            "The table is of {}, this is {now}: compared as shares of tokio's.",
            table.versions
        );
    }
    let changes = compare::changes(&table, rows, by);
    let (worse, better): (Vec<_>, Vec<_>) = changes.iter().partition(|change| change.is_worse());
    for change in better {
        println!("less: {}", change.print());
    }
    for change in &worse {
        println!("MORE: {}", change.print());
    }
    if worse.is_empty() {
        println!("No operation has become more. `--accept` writes the table anew.");
        return Ok(());
    }
    bail!("{} counts are more than 3 % up", worse.len())
}
