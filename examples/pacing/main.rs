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
use common::table::{Cell, Table, markdown, number};
use common::{Side, println};

use self::pace::{Outcome, run};

/// Packets at an even pace, by three intervals
#[derive(Debug, Parser)]
#[command(name = "pacing")]
pub(crate) struct Options {
    /// Packets a second
    #[arg(long, value_name = "N", default_value_t = 4_000, value_parser = value_parser!(u64).range(1..=100_000))]
    rate: u64,

    /// How long each side sends
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = value_parser!(u64).range(1..=600))]
    seconds: u64,

    /// Where the picture goes
    #[arg(long, value_name = "PATH", default_value = "target/pacing.svg", value_parser = common::writable)]
    svg: PathBuf,
}

impl Options {
    pub(crate) fn period(&self) -> Duration {
        Duration::from_secs(1) / u32::try_from(self.rate).unwrap_or(1)
    }

    pub(crate) fn packets(&self) -> u64 {
        self.rate * self.seconds
    }
}

fn main() -> Result<()> {
    let options = Options::parse();
    let neighbours = Neighbours::watch();
    let mut outcomes = Vec::new();
    for side in Side::ALL {
        match run(side, &options) {
            Ok(outcome) => outcomes.push(outcome?),
            Err(none) => println!("{}: {none}", side.name()),
        }
    }
    println!("{}\n", table(&outcomes));
    let note = others::note(neighbours);
    println!("{note}\n");
    fs::write(&options.svg, picture::draw(&options, &outcomes, &note)?)?;
    println!("The picture: {}", options.svg.display());
    Ok(())
}

const HEADER: [&str; 8] = [
    "interval",
    "packets",
    "lost",
    "a second",
    "jitter p50",
    "p99",
    "p99.9",
    "CPU",
];

fn table(outcomes: &[Outcome]) -> Table {
    let mut table = markdown(HEADER);
    for outcome in outcomes {
        let jitter = |quantile| micros(outcome.jitter.quantile(quantile));
        let cpu = outcome.cpu.map(|share| format!("{:.1} %", share * 100.0));
        let numbers = [
            outcome.received.to_string(),
            outcome.lost.to_string(),
            format!("{:.0}", outcome.rate),
            jitter(0.5),
            jitter(0.99),
            jitter(0.999),
            cpu.unwrap_or("–".into()),
        ];
        let name = Cell::new(outcome.side.name());
        table.add_row([name].into_iter().chain(numbers.map(number)));
    }
    table
}

pub(crate) fn micros(time: Duration) -> String {
    format!("{:.0} µs", time.as_nanos() as f64 / 1e3)
}
