//! The simulated program: one small service, with one implementation of timers, on as many workers as there are processors.

use std::fs;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::ValueEnum;
use timers::shapes::Shape;
use timers::{Alt, Bare, Timers, Tokio, Wheel};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Service {
    /// tasks with a timer each
    Conns,
    /// pairs of tasks under timeouts
    Calls,
    /// a new task per timer
    Fresh,
    /// an acceptor that spawns tasks under timeouts
    Units,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Implementation {
    /// The same work without a timer.
    Bare,
    Tokio,
    /// Tokio's alternative timer.
    TokioAlt,
    #[value(name = "tokio-wheel")]
    Wheel,
}

impl Implementation {
    /// Returns the implementations that this build has.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let all = Self::value_variants().iter().copied();
        all.filter(|one| *one != Self::TokioAlt || cfg!(tokio_unstable))
    }
}

/// A service on as many workers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Case {
    pub(crate) service: Service,
    pub(crate) workers: usize,
}

impl Case {
    /// Runs the service once. Tells the plugin when to count, and prints the number of operations and where the program was loaded.
    pub(crate) fn play(self, implementation: Implementation) -> Result<()> {
        let operations = match implementation {
            Implementation::Bare => self.run::<Bare>(),
            Implementation::Tokio => self.run::<Tokio>(),
            Implementation::TokioAlt => self.run::<Alt>(),
            Implementation::Wheel => self.run::<Wheel>(),
        };
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
            Service::Fresh => Shape::Fresh(100),
            Service::Units => Shape::Units(4 * workers),
        };
        // These are so many that the cost of the first operations does not matter.
        let count = (1000 * workers).max(25_000);
        let runtime = T::runtime(workers);
        // As in a service, another timer is always due earlier than the counted ones.
        runtime.spawn(async {
            loop {
                T::sleep(Duration::from_millis(500)).await;
            }
        });
        let play = |count| {
            let task = runtime.spawn(shape.play::<T>(workers, count));
            runtime.block_on(task).expect("the service panicked")
        };
        play(count / 4);
        println!();
        let count = play(count);
        println!();
        count
    }
}
