//! `wheel` against `tokio::time`, figure by figure.
//!
//! ```text
//! cargo bench -p versus                      # every figure, some twenty minutes
//! cargo bench -p versus -- --rounds 1        # a few minutes
//! cargo bench -p versus -- repoll bytes      # the figures asked for
//! cargo bench -p versus -- --list            # what there is
//! cargo bench -p versus -- --goals           # and what each is to reach
//! cargo bench -p versus -- --json FILE       # keeps the medians, as benches/baseline/ does
//! cargo bench -p versus -- --compare FILE    # sets this run against them
//! RUSTFLAGS="--cfg tokio_unstable" cargo bench …  # tokio's timer per worker takes part
//! ```
//!
//! All sides run in one process, but for `peak`, round after round in turn and the other way round every second time. A
//! figure is the median of the rounds' ratios, peer ÷ ours, so larger is better. Every workload counts what it moved, fired and
//! cancelled, and a round in which the sides did different work is a panic. `catalogue.json` has the figures' names, lines
//! and goals.
//!
//! The peer `bare` is the same work without a timer: no timer can go below it, so it has no goal. A line that says *own*
//! has it taken off both sides: what the timers themselves cost, from the medians of the rounds.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use clap::builder::{PossibleValue, PossibleValuesParser};
use common::machine::Circumstances;
use common::others::Neighbours;
use common::println;
use serde_json::Value;

use crate::figure::Figure;
use crate::outcome::Outcome;

mod blocked;
mod busy;
mod bytes;
mod cancel;
mod catalogue;
mod cold;
mod figure;
mod fire;
mod last;
mod lateness;
mod loops;
mod outcome;
mod peak;
mod peer;
mod pending;
mod quiet;
mod report;
mod services;
mod stage;
mod stall;
mod waits;

#[derive(Parser)]
#[command(
    about = "Compares wheel with its peers",
    bin_name = "cargo bench -p versus --"
)]
struct Arguments {
    /// The figures to take; all without one.
    #[arg(value_parser = names())]
    names: Vec<String>,
    /// Name the figures instead of taking them.
    #[arg(long)]
    list: bool,
    /// Rounds for each figure.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: Option<u32>,
    /// Wait for a quiet machine before each round, and take it again if other processes got in.
    #[arg(long)]
    patient: bool,
    /// Print goals too, and which were missed: for the development of this crate.
    #[arg(long)]
    goals: bool,
    /// Write the medians to a file.
    #[arg(long, value_name = "FILE", value_parser = common::writable)]
    json: Option<PathBuf>,
    /// Set the medians against those in a file.
    #[arg(long, value_name = "FILE", value_parser = report::read)]
    compare: Option<Value>,
    /// The side and how few are kept, in a process that the figure `peak` starts.
    #[arg(long, hide = true, num_args = 2)]
    peak: Vec<String>,
    /// Passed by `cargo bench`. Without it and without names, as under `cargo test`, nothing is measured.
    #[arg(long, hide = true)]
    bench: bool,
}

/// What there is to be asked for.
fn names() -> PossibleValuesParser {
    let name = |figure: Figure| PossibleValue::new(figure.name).help(figure.about);
    catalogue::all().into_iter().map(name).into()
}

fn main() -> ExitCode {
    common::go_where_cargo_was_called();
    let arguments = Arguments::parse();
    if let [side, one_in] = arguments.peak.as_slice() {
        println!("{}", peak::alone(side, one_in.parse().expect("a number")));
        return ExitCode::SUCCESS;
    }
    let figures = catalogue::all();
    if arguments.list || !arguments.bench && arguments.names.is_empty() {
        println!("{}", report::list(&figures).trim_end());
        return ExitCode::SUCCESS;
    }
    let circumstances = Circumstances::look();
    let neighbours = Neighbours::watch();
    let (outcomes, failed) = take(&figures, &arguments);
    println!("{circumstances}\n");
    println!("{}", report::table(&outcomes, arguments.goals));
    println!("Peer ÷ ours, the median of the rounds: larger is better. Own: less the bare run.");
    if let Some(neighbours) = &neighbours {
        println!("{}", neighbours.line());
    }
    if let Some(before) = &arguments.compare {
        println!("{}", report::changes(before, &outcomes));
    }
    if let Some(path) = &arguments.json {
        let others = neighbours.map(|neighbours| neighbours.busy());
        report::write(path, &circumstances, others, &outcomes).expect("it could be opened");
    }
    ExitCode::from(u8::from(failed))
}

/// The outcomes, and whether a figure failed.
fn take<'a>(figures: &'a [Figure], arguments: &Arguments) -> (Vec<Outcome<'a>>, bool) {
    let asked = |figure: &&Figure| match arguments.names.as_slice() {
        [] => figure.name != "stall" || stall::is_permitted(),
        names => names.iter().any(|asked| asked == figure.name),
    };
    let (mut outcomes, mut failed) = (Vec::new(), false);
    for figure in figures.iter().filter(asked) {
        let begin = Instant::now();
        eprint!("{} … ", figure.name);
        // A figure that fails says why, and must not cost the others.
        let run = AssertUnwindSafe(|| figure.run(arguments.rounds, arguments.patient));
        let outcome = catch_unwind(run);
        eprintln!("{:.1} s", begin.elapsed().as_secs_f64());
        failed |= outcome.is_err();
        outcomes.extend(outcome);
    }
    (outcomes, failed)
}
