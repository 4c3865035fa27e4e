//! Cache lines that go from one worker to another, per operation, on as many processors as there are workers.
//!
//! ```text
//! RUSTFLAGS="--cfg tokio_unstable" cargo bench -p transfers -- --count   # the table, ten minutes
//! … -- --count --workers 8,16 calls                                           # some of it
//! … -- --workers 16 gateway                                                   # a whole service, per request; see below
//! … -- --count --svg FILE                                                     # and its picture
//! … -- --hot 12 --workers 64 calls                                            # which lines go, and what makes them
//! ```
//!
//! Nothing is timed: QEMU simulates the processors, and a plugin their caches (`plugin.c` says how), so that a machine
//! with two cores, busy or not, tells what happens on 64. Medians of five runs, which differ, since threads meet
//! otherwise each time: `conns` and `calls` by tenths, `fresh` by one or two. *Own* is what is left without the peer
//! `bare`, the same work without a timer. *In lock* are those of tokio's own that go while the lock of its timers is taken
//! or held, so one after the other, whatever the number of workers. Without `tokio_unstable` tokio's timer per worker takes
//! no part.
//!
//! `gateway` is `examples/gateway` at full load, HTTP and all. It is simulated only where it is named, with tokio's timers
//! and with ours: no run of it is without timers, so the two are compared as they are.
//!
//! It needs Debian's apt and dpkg, from which it takes QEMU without installing it, cc, and binutils.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;
use common::machine::Circumstances;
use common::{median, println, word};

use crate::play::{Case, Peer, Service};
use crate::simulate::{Counted, Emulator};
use crate::table::Row;

mod code;
mod hot;
mod picture;
mod play;
mod simulate;
mod table;

#[derive(Parser)]
#[command(
    about = "Counts cache lines that go from one worker to another",
    bin_name = "cargo bench -p transfers --"
)]
struct Arguments {
    /// The services to simulate; those in small without one.
    #[arg(value_enum)]
    services: Vec<Service>,
    /// Simulate them, and print a table, also where no service is named.
    #[arg(long)]
    count: bool,
    /// On how many workers, one for each processor.
    #[arg(long, value_delimiter = ',', default_values_t = [2, 8, 16, 64])]
    workers: Vec<usize>,
    /// Print goals too: for the development of this crate.
    #[arg(long)]
    goals: bool,
    /// Draw the table, too.
    #[arg(long, value_name = "FILE", value_parser = common::writable)]
    svg: Option<PathBuf>,
    /// List so many of the lines that went most often in one run, and the code that made them.
    #[arg(long, value_name = "COUNT")]
    hot: Option<usize>,
    /// Be what is simulated.
    #[arg(long, hide = true, value_enum)]
    play: Option<Peer>,
    /// Passed by `cargo bench`, which simulates nothing unless it is asked to.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> Result<()> {
    common::go_where_cargo_was_called();
    let mut arguments = Arguments::parse();
    if arguments.services.is_empty() {
        if !arguments.count && arguments.hot.is_none() {
            println!("Simulates processors for some minutes, if asked to; see --help.");
            return Ok(());
        }
        arguments.services = Service::SMALL.to_vec();
    }
    let mut cases = Vec::new();
    for &service in &arguments.services {
        let workers = arguments.workers.iter();
        cases.extend(workers.map(|&workers| Case { service, workers }));
    }
    match (arguments.play, arguments.hot) {
        (Some(peer), _) => cases[0].play(peer),
        (None, Some(most)) => list_hot(&cases, most),
        (None, None) => count(&cases, &arguments),
    }
}

fn count(cases: &[Case], arguments: &Arguments) -> Result<()> {
    /// What is counted is the median of so many.
    const RUNS: usize = 5;
    let emulator = Emulator::new()?;
    let mut rows = Vec::new();
    for &case in cases {
        let (mut counts, mut in_lock) = (BTreeMap::new(), None);
        for peer in case.peers() {
            let runs = (0..RUNS).map(|_| emulator.count(case, peer, 0));
            let runs = runs.collect::<Result<Vec<_>>>()?;
            let transfers = runs.iter().map(Counted::transfers);
            counts.insert(peer, median(&transfers.collect::<Vec<_>>()));
            if peer == Peer::Tokio {
                let held = runs.iter().map(Counted::in_tokios_lock);
                in_lock = Some(median(&held.collect::<Result<Vec<_>>>()?));
            }
        }
        rows.push(Row {
            case,
            counts,
            in_lock,
        });
    }
    println!("{}", table::table(&rows, arguments.goals));
    if let Some(path) = &arguments.svg {
        fs::write(path, picture::draw(&rows, &Circumstances::look().versions)?)?;
    }
    Ok(())
}

fn list_hot(cases: &[Case], most: usize) -> Result<()> {
    let emulator = Emulator::new()?;
    for &case in cases {
        for peer in case.peers() {
            let (service, workers) = (word(&case.service), case.workers);
            println!("\n{service} with {} on {workers} workers", word(&peer));
            hot::list(&emulator.count(case, peer, most)?)?;
        }
    }
    Ok(())
}
