//! The simulated program: one small service, with one implementation of timers, on as many workers as there are processors.

use std::fs;

use anyhow::{Context as _, Result};
use clap::ValueEnum;
use timers::shapes::Shape;
use timers::{Alt, Bare, Timers, Tokio, Wheel, service};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Service {
    /// tasks with a timer each
    Conns,
    /// pairs of tasks under timeouts
    Calls,
    /// an acceptor that spawns tasks under timeouts
    Units,
}

/// An implementation, and its run of a service, which returns the number of operations.
pub(crate) type Implementation = (&'static str, fn(Case) -> u64);

/// Returns the implementations that this build has, the same work without a timer first.
pub(crate) fn implementations() -> impl Iterator<Item = Implementation> {
    let all = [run::<Bare>(), run::<Tokio>(), run::<Alt>(), run::<Wheel>()];
    let all = all.into_iter();
    all.filter(|(name, _)| *name != Alt::NAME || cfg!(tokio_unstable))
}

fn run<T: Timers>() -> Implementation {
    (T::NAME, Case::run::<T>)
}

/// A service and its workers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Case {
    pub(crate) service: Service,
    pub(crate) workers: usize,
}

impl Case {
    /// Runs the service once. Tells the plugin when to count, and prints the number of operations and where the program
    /// was loaded.
    pub(crate) fn play(self, implementation: &str) -> Result<()> {
        let (_, run) = implementations()
            .find(|(name, _)| *name == implementation)
            .context("no such implementation")?;
        let operations = run(self);
        let maps = fs::read_to_string("/proc/self/maps")?;
        let (start, _) = maps.split_once('-').context("no program")?;
        println!("{operations} {}", u64::from_str_radix(start, 16)?);
        Ok(())
    }

    /// Returns the number of operations.
    fn run<T: Timers>(self) -> u64 {
        let workers = self.workers;
        let shape = match self.service {
            Service::Conns => Shape::Conns(4 * workers),
            Service::Calls => Shape::Calls(2 * workers),
            Service::Units => Shape::Units(4 * workers),
        };
        // So many that the cost of the first ones does not matter.
        let count = (1000 * workers).max(25_000);
        let runtime = service::<T>(workers);
        let play = |count| {
            let task = runtime.spawn(shape.play::<T>(count));
            runtime.block_on(task).expect("the service panicked")
        };
        play(count / 4);
        println!();
        let count = play(count);
        println!();
        count
    }
}
