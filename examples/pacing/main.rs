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

mod pace;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::{Parser, value_parser};
use common::others::Neighbours;
use common::picture::{self, Frame, bars, panel};
use common::table::Columns;
use common::{Side, println};

use self::pace::{Outcome, run};

const SIZE: (u32, u32) = (1120, 460);
/// Where one group of bars ends and the next one begins, in microseconds.
const EDGES: [u64; 10] = [0, 10, 25, 50, 100, 250, 500, 1_000, 2_500, u64::MAX];
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
    let packets = u64::from(RATE) * options.seconds;
    let outcomes = Side::ALL.iter().map(|&side| run(side, packets));
    let outcomes: Vec<_> = outcomes.collect::<Result<_>>()?;
    println!("{}", table(&outcomes));
    picture::save(&options.svg, neighbours, |note| draw(&outcomes, note))
}

fn table(outcomes: &[Outcome]) -> Columns<'_, Outcome> {
    let mut columns = Columns::new(outcomes.iter().map(|side| (side.side.name(), side)));
    columns.row("packets", |side| side.received.to_string());
    columns.row("lost", |side| side.lost.to_string());
    columns.row("a second", |side| format!("{:.0}", side.rate));
    for (name, quantile) in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)] {
        let jitter = |side: &Outcome| micros(side.quantile(quantile));
        columns.row(format!("jitter {name}"), jitter);
    }
    columns.row("CPU", |side| side.cpu.clone());
    columns
}

pub(crate) fn micros(time: Duration) -> String {
    format!("{:.0} µs", time.as_nanos() as f64 / 1e3)
}

/// The picture as SVG.
fn draw(outcomes: &[Outcome], note: &str) -> Result<String> {
    let legend: Vec<_> = outcomes.iter().map(|side| side.side.legend()).collect();
    let frame = Frame {
        title: &format!("{RATE} packets a second, by an interval"),
        about: "Jitter: by how much the time between two packets on the loopback interface \
                differs from the period.",
        legend: &legend,
        note,
    };
    let about: Vec<_> = outcomes.iter().map(summary).collect();
    picture::draw(SIZE, &frame, |area| {
        let area = panel(area, "Share of packets, in percent", &about.join("; "))?;
        let text = |share| format!("{share:.0}");
        bars(&area, &legend, "jitter", &groups(outcomes), text)
    })
}

fn summary(outcome: &Outcome) -> String {
    let quantile = |at| micros(outcome.quantile(at));
    let (name, p50, p99) = (outcome.side.name(), quantile(0.5), quantile(0.99));
    format!("{name}: p50 {p50}, p99 {p99}, CPU {}", outcome.cpu)
}

/// What each group of bars is for, and how high they are.
fn groups(outcomes: &[Outcome]) -> Vec<(String, Vec<f64>)> {
    let groups = EDGES.windows(2).map(|edge| {
        let name = match edge[1] {
            u64::MAX => "more".to_owned(),
            edge => format!("< {edge} µs"),
        };
        let share = |side: &Outcome| side.share_between(edge[0], edge[1]);
        (name, outcomes.iter().map(share).collect())
    });
    groups.collect()
}
