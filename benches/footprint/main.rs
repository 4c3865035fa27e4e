//! What an operation of a timer touches: instructions, lines of code, lines of data.
//!
//! ```text
//! cargo bench -p footprint                       # counts everything, and prints a table
//! cargo bench -p footprint -- same crowd         # the shapes asked for
//! cargo bench -p footprint -- --check            # compares with table.md, and fails where more than 3 % is added
//! cargo bench -p footprint -- --accept           # writes table.md anew
//! ```
//!
//! Between two timers of a service, the caches are filled with something else. The cost of a timer is then what the timer
//! touches, and counts of that are exact on a busy machine as well.
//!
//! A program of its own (`played/`) plays a shape under valgrind's `lackey`, which prints every instruction and every
//! access to memory. Each operation of the shape stands between two marks, and no other thread runs between them. The bench
//! counts the instructions between the marks, the *different* lines of 64 bytes that are executed, and the different lines
//! that are read or written. The counts of `bare`, the same program without a timer, are taken off those of each side.
//!
//! The program is built twice: as `cargo build --release` does, which is what most services run, and with link-time
//! optimisation, in one piece. What helps in one build may harm in the other: small functions that are not marked to be inlined
//! cost nothing with link-time optimisation, and a tenth without.
//!
//! Two runs count the same: the program has a clock that moves by ten microseconds per reading (`clock.c`), and an empty
//! environment. Lines of code are averaged over the places at which the
//! linker may put a function. A change that moves memory by some bytes may still add a data line or take one away, so a line
//! more passes the comparison. Counts depend on the compiler and on tokio: the table names both versions, and where one
//! differs, the counts are compared as shares of tokio's. They depend on libc as well, whose version is not compared.
//!
//! The shape `fire` is a batch; its lines are those of the whole batch divided by the number of timers.
//!
//! # Beside a simulated cache
//!
//! Misses of a simulated cache, flushed between operations, were counted before. The tables differ in four ways:
//!
//! * Lines of code that a flush leaves in the simulated first level were not counted: `crowd` with tokio's timers came to 46
//!   lines, here 52.
//! * No other timer was due early. Each timer was the earliest then, and tokio woke its driver for each: `same` came to 634
//!   instructions, here 558, and 639 here without the early timer. Ours does not wake anything, with it or without.
//! * Each poll was wrapped in `unconstrained`, which `bare` does not pay in full: `same` with our timers came to 501
//!   instructions, then 440 here.
//! * In `elsewhere` each timer was in a box: about 210 instructions on both sides. In `set` the wakers were like those of a
//!   set; here the set is a `FuturesUnordered`, and so the wakers are cloned and compared as there.

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
    /// The shapes to count; all without one.
    #[arg(value_enum)]
    shapes: Vec<Shape>,
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
    // This crate's own comes first.
    let Circumstances { versions, .. } = Circumstances::look();
    let (_, versions) = versions.split_once(", ").context("three versions")?;
    let table = Table {
        versions: versions.to_owned(),
        rows: plan::count(&simulator, &arguments.shapes)?,
    };
    println!("{}", table.print());
    if arguments.accept {
        table.write()?;
    }
    if arguments.check && table.is_more_than(&Table::read()?) {
        println!("What is more by over 3 % is not accepted, but by `--accept`.");
        return Ok(ExitCode::FAILURE);
    }
    if arguments.check {
        println!("No operation has become more. `--accept` writes the table anew.");
    }
    Ok(ExitCode::SUCCESS)
}
