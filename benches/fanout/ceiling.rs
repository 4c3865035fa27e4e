//! Measures how many timers per second this machine can arm and cancel, with one worker up to one per processor.
//!
//! The work is `conns` of `benches/timers/shapes.rs`, whose cache-line transfers `benches/transfers` counts: a task arms a
//! timer, lets other tasks run, and cancels the timer.

use std::time::{Duration, Instant};

use anyhow::Result;
use common::conditions::Conditions;
use common::table::{markdown, number, spread};
use common::{alternate, println};
use timers::shapes::Shape;
use timers::{Alt, Timers, Tokio, Wheel, service};

use crate::worker_counts;

/// A measurement takes at least this long.
const ENOUGH: Duration = Duration::from_millis(150);

type Measure = (&'static str, fn(usize) -> f64);

fn of<T: Timers>() -> Measure {
    (T::NAME, timers_per_second::<T>)
}

/// Measures and prints a table.
pub(crate) fn run(rounds: usize) -> Result<()> {
    let mut all = vec![of::<Tokio>()];
    all.extend(cfg!(tokio_unstable).then(of::<Alt>));
    all.push(of::<Wheel>());
    let conditions = Conditions::watch();
    let names = all.iter().map(|(name, _)| *name);
    let mut table = markdown(["workers"].into_iter().chain(names));
    for workers in worker_counts() {
        let mut measured = vec![Vec::new(); all.len()];
        for (_, at) in alternate(rounds, all.len()) {
            conditions.sample();
            measured[at].push((all[at].1)(workers) / 1e6);
        }
        let mark = conditions.mark();
        let cells = measured.iter().map(|millions| spread(millions, 2) + mark);
        table.add_row([number(workers)].into_iter().chain(cells.map(number)));
    }
    conditions.warn();
    println!("{table}");
    println!(
        "Million timers armed and cancelled per second: the median (minimum–maximum) over all rounds."
    );
    if !cfg!(tokio_unstable) {
        println!("RUSTFLAGS=\"--cfg tokio_unstable\" adds tokio's timer per worker.");
    }
    println!("{conditions}");
    Ok(())
}

fn timers_per_second<T: Timers>(workers: usize) -> f64 {
    let (runtime, shape) = (service::<T>(workers), Shape::Conns(4 * workers));
    let mut count = 10_000 * workers;
    loop {
        let began = Instant::now();
        let task = runtime.spawn(shape.play::<T>(count));
        let done = runtime.block_on(task).expect("no panic");
        let took = began.elapsed();
        if took >= ENOUGH {
            return done as f64 / took.as_secs_f64();
        }
        count *= 3;
    }
}
