//! Counts cache-line transfers from one worker to another, per operation, on as many processors as there are workers.
//!
//! ```text
//! RUSTFLAGS="--cfg tokio_unstable" cargo bench -p transfers -- --count   # the table, thirteen minutes
//! … -- --count --workers 8,16 calls                                      # a part of it
//! ```
//!
//! Nothing is timed: QEMU simulates the processors and a plugin their caches (`plugin.c` explains how), so that a
//! machine with two cores, busy or not, shows what happens on 64. The results are medians of five runs. Runs differ
//! because threads meet in another order each time: by tenths for `conns` and `calls`, by one or two for `units`. *Own*
//! is the count less that of `bare`, the same work without a timer. *In lock* counts the transfers of Tokio's code that
//! takes or holds the lock of its timers. They happen one after the other, whatever the number of workers. Tokio's
//! alternative timer needs `tokio_unstable`.
//!
//! The benchmark needs cc and binutils, and Debian's apt and dpkg, with which it gets QEMU without installing it.

use anyhow::Result;
use clap::{Parser, ValueEnum as _};
use common::machine::Circumstances;
use common::{median, println};
use timers::{Timers as _, Tokio};

use crate::play::{Case, Service, implementations};
use crate::simulate::{Counted, Emulator};
use crate::table::Row;

mod code;
mod play;
mod simulate;
mod table;

#[derive(Parser)]
#[command(
    about = "Counts cache-line transfers from one worker to another",
    bin_name = "cargo bench -p transfers --"
)]
struct Arguments {
    /// Services to simulate [default: all]
    #[arg(value_enum)]
    services: Vec<Service>,
    /// Simulate the services and print a table
    #[arg(long)]
    count: bool,
    /// Numbers of workers, with one processor for each
    #[arg(long, value_delimiter = ',', default_values_t = [2, 8, 16, 64])]
    workers: Vec<usize>,
    /// Be the simulated program
    #[arg(long, hide = true)]
    play: Option<String>,
    /// Passed by `cargo bench`
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> Result<()> {
    let mut arguments = Arguments::parse();
    if arguments.services.is_empty() {
        if !arguments.count {
            println!("Use --count to simulate processors for some minutes; see --help.");
            return Ok(());
        }
        arguments.services = Service::value_variants().to_vec();
    }
    let mut cases = Vec::new();
    for &service in &arguments.services {
        let workers = arguments.workers.iter();
        cases.extend(workers.map(|&workers| Case { service, workers }));
    }
    match arguments.play {
        Some(implementation) => cases[0].play(&implementation),
        None => count(&cases),
    }
}

fn count(cases: &[Case]) -> Result<()> {
    /// Number of runs, of which the result is the median.
    const RUNS: usize = 5;
    let emulator = Emulator::new()?;
    let mut rows = Vec::new();
    for &case in cases {
        let (mut counts, mut in_lock) = (Vec::new(), 0.0);
        for (implementation, _) in implementations() {
            let runs = (0..RUNS).map(|_| emulator.count(case, implementation));
            let runs = runs.collect::<Result<Vec<_>>>()?;
            let transfers = runs.iter().map(Counted::transfers);
            counts.push(median(&transfers.collect::<Vec<_>>()));
            if implementation == Tokio::NAME {
                let held = runs.iter().map(Counted::in_tokios_lock);
                in_lock = median(&held.collect::<Result<Vec<_>>>()?);
            }
        }
        rows.push(Row {
            case,
            counts,
            in_lock,
        });
    }
    println!("{}", table::table(&rows));
    println!("Transfers per operation. {}.", Circumstances::look());
    Ok(())
}
