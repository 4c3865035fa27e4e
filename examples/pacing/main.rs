//! Packets over UDP at an even pace, thousands a second: by `tokio::time::interval`, by this
//! crate's, and by this crate's with high resolution.
//!
//! ```text
//! cargo run --release -p pacing              # 4,000 a second, for 3 seconds each
//! cargo run --release -p pacing -- --help
//! ```
//!
//! A task sends a packet with each tick, on the loopback interface. A thread receives them,
//! and notes when. Jitter is by how much the time between two packets differs from the
//! period. Its histogram is drawn.

mod jitter;
mod pace;
mod picture;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::{Parser, value_parser};
use common::others::{self, Neighbours};
use common::table::Columns;
use common::{Side, println};

use self::pace::{Outcome, run};

/// Packets a second.
const RATE: u32 = 4_000;

/// Packets at an even pace, by three intervals
#[derive(Debug, Parser)]
#[command(name = "pacing")]
struct Options {
    /// How long each side sends
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = value_parser!(u64).range(1..=600))]
    seconds: u64,

    /// Where the picture goes
    #[arg(long, value_name = "PATH", default_value = "target/pacing.svg", value_parser = common::writable)]
    svg: PathBuf,
}

fn main() -> Result<()> {
    let options = Options::parse();
    let neighbours = Neighbours::watch();
    let mut outcomes = Vec::new();
    for side in Side::ALL {
        match run(side, RATE as u64 * options.seconds) {
            Ok(outcome) => outcomes.push(outcome?),
            Err(none) => println!("{}: {none}", side.name()),
        }
    }
    println!("{}", table(&outcomes));
    let note = others::note(neighbours);
    println!("{note}");
    fs::write(&options.svg, picture::draw(&outcomes, &note)?)?;
    println!("The picture: {}", options.svg.display());
    Ok(())
}

fn table(outcomes: &[Outcome]) -> Columns<'_, Outcome> {
    let mut columns = Columns::new(outcomes.iter().map(|side| (side.side.name(), side)));
    columns.row("packets", |side| side.received.to_string());
    columns.row("lost", |side| side.lost.to_string());
    columns.row("a second", |side| format!("{:.0}", side.rate));
    for (name, quantile) in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)] {
        let jitter = |side: &Outcome| micros(side.jitter.quantile(quantile));
        columns.row(format!("jitter {name}"), jitter);
    }
    columns.row("CPU", Outcome::cpu);
    columns
}

pub(crate) fn micros(time: Duration) -> String {
    format!("{:.0} µs", time.as_nanos() as f64 / 1e3)
}
