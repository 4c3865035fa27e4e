//! How many timers per second this machine can arm, from one worker up to all, and what limits them: measured, beside what
//! counted cache lines and the measured time of a line predict.
//!
//! The work is `conns` of `benches/timers/shapes.rs`, whose lines `benches/transfers` counts: a task arms a timer, lets others
//! run, and cancels it. The same work without a timer, the peer `bare`, is measured too: what it takes is in each prediction.

mod line;
mod picture;
mod predict;

use std::time::{Duration, Instant};

use anyhow::Result;
use common::others::{self, Neighbours};
use common::table::{Table, markdown, number};
use common::{median, picture as frame, println, range};
use indicatif::HumanDuration;
use timers::shapes::Shape;
use timers::{Alt, Bare, Timers, Tokio, Wheel};

use self::line::Pair;
use self::predict::Counts;
use crate::{Options, worker_counts, workers};

/// What is measured takes at least so long.
const ENOUGH: Duration = Duration::from_millis(150);
/// A measurement with all that leads up to it.
const EACH: Duration = Duration::from_millis(400);

/// Whose timers, and what measures them on so many workers: operations per second.
#[derive(Debug)]
struct Peer {
    name: &'static str,
    measure: fn(usize) -> f64,
}

impl Peer {
    fn of<T: Timers>() -> Self {
        let measure = operations_per_second::<T>;
        Self {
            name: T::NAME,
            measure,
        }
    }

    /// The first is the work alone.
    fn all() -> Vec<Self> {
        let mut all = vec![Self::of::<Bare>(), Self::of::<Tokio>()];
        if cfg!(tokio_unstable) {
            all.push(Self::of::<Alt>());
        }
        all.push(Self::of::<Wheel>());
        all
    }
}

/// So many workers, on so many processors.
#[derive(Clone, Copy, Debug)]
struct Place {
    workers: usize,
    processors: usize,
}

/// What was measured there, and what was predicted: operations per second.
#[derive(Debug)]
struct Row {
    place: Place,
    /// Of each peer, all rounds.
    measured: Vec<Vec<f64>>,
    /// Of each peer; none for one worker, whose measurement is what predictions begin with, and none for bare.
    predicted: Vec<Option<f64>>,
}

impl Row {
    fn median(&self, peer: usize) -> f64 {
        median(&self.measured[peer])
    }

    /// The time of a processor that an operation takes, in nanoseconds: of the round that others disturbed least.
    fn nanos(&self, peer: usize) -> f64 {
        let (_, most) = range(&self.measured[peer]);
        predict::nanos(self.place.processors, most)
    }
}

/// Measures, and prints a table; draws it.
pub(crate) fn run(options: &Options) -> Result<()> {
    let svg = options.svg("target/ceiling.svg")?;
    let processors = line::processors();
    let most = options.workers.map_or(workers(), |most| most as usize);
    let peers = Peer::all();
    let places = places(most, processors.len());
    let runs = (places.len() * peers.len()) as u32 * options.rounds as u32;
    println!("It takes about {}.", HumanDuration(EACH * runs));
    let neighbours = Neighbours::watch();
    let pairs = line::measure(&processors)?;
    let mut rows = Vec::new();
    for place in places {
        eprintln!(
            "workers: {}, processors: {} …",
            place.workers, place.processors
        );
        if !processors.is_empty() {
            line::stay_on(&processors[..place.processors])?;
        }
        rows.push(measure(place, &peers, options.rounds));
    }
    tell_lines(&pairs);
    let counts = Counts::printed()?;
    if let Some(nanos) = middle(&pairs) {
        predict(&mut rows, &peers, &counts, nanos);
        println!("Predicted:\n{}", forecast(&rows, &peers, &counts, nanos));
    }
    let mark = neighbours.as_ref().map_or("", Neighbours::mark);
    others::warn(neighbours.as_ref());
    println!("{}", table(&rows, &peers, mark));
    println!("Millions armed and cancelled a second: the median of the rounds, and their range.");
    println!("Predicted: by the lines that a timer moves, and the time of a line.");
    frame::save(&svg, neighbours, |note| {
        picture::draw(&rows, &peers, &pairs, note)
    })
}

/// From one worker to `most`, each on a processor of its own as far as there are; and two on one, between which no line goes.
fn places(most: usize, processors: usize) -> Vec<Place> {
    let apart = worker_counts(most).map(|workers| Place {
        workers,
        processors: workers.min(processors.max(1)),
    });
    let mut places: Vec<_> = apart.collect();
    if most >= 2 && processors >= 2 {
        let (workers, processors) = (2, 1);
        let together = Place {
            workers,
            processors,
        };
        places.insert(1, together);
    }
    places
}

/// The peers take turns.
fn measure(place: Place, peers: &[Peer], rounds: u64) -> Row {
    let mut measured = vec![Vec::new(); peers.len()];
    for _ in 0..rounds {
        for (peer, measured) in peers.iter().zip(&mut measured) {
            measured.push((peer.measure)(place.workers));
        }
    }
    Row {
        place,
        measured,
        predicted: vec![None; peers.len()],
    }
}

fn operations_per_second<T: Timers>(workers: usize) -> f64 {
    let runtime = T::runtime(workers);
    let shape = Shape::Conns(4 * workers);
    // As where lines are counted: another timer is always due before.
    runtime.spawn(async {
        loop {
            T::sleep(Duration::from_millis(500)).await;
        }
    });
    let mut count = 10_000 * workers;
    loop {
        let began = Instant::now();
        let task = runtime.spawn(shape.play::<T>(workers, count));
        let done = runtime.block_on(task).expect("the work panicked");
        let took = began.elapsed();
        if took >= ENOUGH {
            return done as f64 / took.as_secs_f64();
        }
        count *= 3;
    }
}

fn middle(pairs: &[Pair]) -> Option<f64> {
    let nanos: Vec<_> = pairs.iter().map(|pair| pair.nanos).collect();
    (!nanos.is_empty()).then(|| median(&nanos))
}

/// The time of an operation's timer alone, on one worker.
fn own_of_one(rows: &[Row], peer: usize) -> f64 {
    (rows[0].nanos(peer) - rows[0].nanos(0)).max(0.0)
}

/// The work alone as it was measured there, the timer as on one worker, and the lines that it moves there.
fn predict(rows: &mut [Row], peers: &[Peer], counts: &Counts, line: f64) {
    for (peer, Peer { name, .. }) in peers.iter().enumerate() {
        let alone = own_of_one(rows, peer);
        for row in &mut rows[1..] {
            let processors = row.place.processors;
            let bare = row.nanos(0);
            let held = counts.in_lock(name, processors).unwrap_or(0.0);
            let ceiling = predict::ceiling(held, line);
            row.predicted[peer] = counts
                .own(name, processors)
                .map(|lines| predict::rate(processors, bare + alone + lines * line, ceiling));
        }
    }
}

fn tell_lines(pairs: &[Pair]) {
    let (Some(fastest), Some(slowest), Some(middle)) = (pairs.first(), pairs.last(), middle(pairs))
    else {
        println!(
            "One processor, or a system that does not say which: no line goes, and nothing is predicted."
        );
        return;
    };
    let name = |pair: &Pair| {
        let ((one, other), nanos) = (pair.processors, pair.nanos);
        format!("{nanos:.1} ns ({one}–{other})")
    };
    println!(
        "A cache line goes from processor to processor in {middle:.1} ns, the median of {} pairs; from {} to {}.",
        pairs.len(),
        name(fastest),
        name(slowest),
    );
}

/// What a service can compute with, for workers on as many processors: what a timer of each peer takes, where it waits for no
/// lock, and the most that go through tokio's lock. With the time of a line as it is here, and with longer ones.
fn forecast(rows: &[Row], peers: &[Peer], counts: &Counts, here: f64) -> Table {
    let of_all = ["workers", "ns a line", "most a second under tokio's lock"];
    let of_each = peers[1..]
        .iter()
        .map(|peer| format!("{}: ns a timer", peer.name));
    let mut table = markdown(of_all.map(str::to_owned).into_iter().chain(of_each));
    for workers in [2, 8, 16, 64] {
        for line in [here, 100.0, 200.0] {
            let held = counts.in_lock("tokio", workers).unwrap_or(0.0);
            let millions = predict::ceiling(held, line) / 1e6;
            let mut cells = vec![number(workers), number(format!("{line:.0}"))];
            cells.push(number(format!("{millions:.1} million")));
            for (peer, Peer { name, .. }) in peers.iter().enumerate().skip(1) {
                let lines = counts.own(name, workers).unwrap_or(0.0);
                let nanos = own_of_one(rows, peer) + lines * line;
                cells.push(number(format!("{nanos:.0}")));
            }
            table.add_row(cells);
        }
    }
    table
}

/// A row for each place; of each peer what was measured, and what was predicted. In millions.
fn table(rows: &[Row], peers: &[Peer], mark: &str) -> Table {
    let mut header = vec!["workers".to_owned(), "processors".to_owned()];
    for Peer { name, .. } in peers {
        header.push((*name).to_owned());
        header.push("predicted".to_owned());
    }
    // No figure of bare is predicted.
    header.remove(3);
    let mut table = markdown(header);
    for row in rows {
        let mut cells = vec![number(row.place.workers), number(row.place.processors)];
        for (peer, predicted) in row.predicted.iter().enumerate() {
            let (least, most) = range(&row.measured[peer]);
            let [least, middle, most] = [least, row.median(peer), most].map(|rate| rate / 1e6);
            cells.push(number(format!("{middle:.2} ({least:.2}–{most:.2}){mark}")));
            let predicted = predicted.map(|rate| format!("{:.2}{mark}", rate / 1e6));
            cells.push(number(predicted.unwrap_or_default()));
        }
        cells.remove(3);
        table.add_row(cells);
    }
    table
}
