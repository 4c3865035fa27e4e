//! Cache lines that go from one worker to another, per operation, on as many processors as there are workers.
//!
//! ```text
//! RUSTFLAGS="--cfg tokio_unstable" cargo bench -p transfers -- --count   # the table, ten minutes
//! … -- --count --workers 8,16 calls                                           # some of it
//! … -- --workers 16 gateway                                                   # a whole service, per request; see below
//! … -- --count --svg FILE                                                     # and its picture
//! … -- --hot 12 --workers 64 --peers wheel calls                              # which lines go, and what makes them
//! ```
//!
//! Nothing is timed: QEMU simulates the processors, and a plugin their caches (`plugin.c` says how), so that a machine
//! with two cores, busy or not, tells what happens on 64. Medians of five runs, which differ, since threads meet
//! otherwise each time: `conns` and `calls` by tenths, `fresh` by one or two. *Own* is what is left without the peer
//! `bare`, the same work without a timer. Without `tokio_unstable` tokio's timer per worker takes no part.
//!
//! `gateway` is `examples/gateway` at full load, HTTP and all. It is simulated only where it is named, with tokio's timers
//! and with ours: no run of it is without timers, so the two are compared as they are.
//!
//! It needs Debian's apt and dpkg, from which it takes QEMU without installing it, cc, and binutils for `--hot`.

use std::fs;
use std::path::PathBuf;

use anyhow::{Error, Result};
use clap::builder::RangedU64ValueParser;
use clap::{Parser, ValueEnum as _};
use common::machine::Circumstances;
use common::{median, println, word};

use crate::play::{Peer, Service};
use crate::simulate::Emulator;

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
    #[arg(long, value_delimiter = ',', default_values_t = [2, 8, 16, 64], value_parser = count_to(1024))]
    workers: Vec<usize>,
    /// With which timers; all without one.
    #[arg(long, value_enum, value_delimiter = ',')]
    peers: Vec<Peer>,
    /// The median of so many.
    #[arg(long, default_value_t = 5, value_parser = count_to(1000))]
    runs: usize,
    /// Print goals too: for the development of this crate.
    #[arg(long)]
    goals: bool,
    /// Draw the table, too.
    #[arg(long, value_name = "FILE", value_parser = common::writable)]
    svg: Option<PathBuf>,
    /// List so many of the lines that went most often in one run, and the code that made them.
    #[arg(long, value_name = "COUNT", value_parser = count_to(1000))]
    hot: Option<usize>,
    /// Be what is simulated.
    #[arg(long, hide = true, num_args = 3)]
    play: Option<Vec<String>>,
    /// Passed by `cargo bench`, which simulates nothing unless it is asked to.
    #[arg(long, hide = true)]
    bench: bool,
}

fn count_to(most: u64) -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=most)
}

fn main() -> Result<()> {
    common::go_where_cargo_was_called();
    let mut arguments = Arguments::parse();
    if let Some([service, peer, workers]) = arguments.play.as_deref() {
        let service = Service::from_str(service, false).map_err(Error::msg)?;
        let peer = Peer::from_str(peer, false).map_err(Error::msg)?;
        return play::play(service, peer, workers.parse()?);
    }
    if arguments.services.is_empty() {
        arguments.services = Service::SMALL.to_vec();
    } else {
        arguments.count = true;
    }
    if arguments.peers.is_empty() {
        arguments.peers = Peer::value_variants().to_vec();
    }
    if let Some(most) = arguments.hot {
        list_hot(&arguments, most)
    } else if arguments.count {
        count(&arguments)
    } else {
        println!("Simulates processors for some minutes, if asked to with --count; see --help.");
        Ok(())
    }
}

fn count(arguments: &Arguments) -> Result<()> {
    let emulator = Emulator::new()?;
    let mut rows = Vec::new();
    for case in cases(arguments) {
        let mut counts = Vec::new();
        for &peer in peers(arguments, case) {
            let runs = (0..arguments.runs).map(|_| emulator.count(case, peer, 0));
            let runs: Vec<_> = runs.map(|run| Ok(run?.transfers)).collect::<Result<_>>()?;
            counts.push((peer, median(&runs)));
        }
        rows.push(table::Row { case, counts });
    }
    println!("{}", table::table(&rows, arguments.goals));
    if let Some(path) = &arguments.svg {
        fs::write(path, picture::draw(&rows, &Circumstances::new().versions)?)?;
    }
    Ok(())
}

/// A service on as many workers.
#[derive(Clone, Copy)]
struct Case {
    service: Service,
    workers: usize,
}

fn cases(arguments: &Arguments) -> impl Iterator<Item = Case> {
    let services = arguments.services.iter();
    services.flat_map(|&service| {
        let workers = arguments.workers.iter();
        workers.map(move |&workers| Case { service, workers })
    })
}

/// Those that are asked for and that the service can do with.
fn peers(arguments: &Arguments, case: Case) -> impl Iterator<Item = &Peer> {
    let peers = arguments.peers.iter();
    peers.filter(move |&&peer| case.service.takes(peer))
}

fn list_hot(arguments: &Arguments, most: usize) -> Result<()> {
    let emulator = Emulator::new()?;
    for case in cases(arguments) {
        for &peer in peers(arguments, case) {
            let (service, workers) = (word(&case.service), case.workers);
            println!("{service} with {} on {workers} workers", word(&peer));
            let counted = emulator.count(case, peer, most)?;
            println!("{}", hot::list(&counted)?);
        }
    }
    Ok(())
}
