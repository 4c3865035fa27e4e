//! What is simulated: one service in small, with one kind of timer, on as many workers as there are to be processors.

use std::fs;
use std::time::Duration;

use ::gateway::{Load, Stack};
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
    /// requests to an HTTP gateway
    // A whole service, which has no timers to be left out, and a runtime of its own.
    Gateway,
}

impl Service {
    /// Those in small, which are simulated where none is named.
    pub(crate) const SMALL: [Self; 3] = [Self::Conns, Self::Calls, Self::Fresh];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Peer {
    /// The same work without a timer.
    Bare,
    Tokio,
    /// tokio's timer per worker.
    TokioAlt,
    Wheel,
}

/// A service on as many workers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Case {
    pub(crate) service: Service,
    pub(crate) workers: usize,
}

impl Case {
    /// Those that the service can do with and that this build has.
    pub(crate) fn peers(self) -> impl Iterator<Item = Peer> {
        let is_whole = self.service == Service::Gateway;
        Peer::value_variants()
            .iter()
            .copied()
            .filter(move |peer| match peer {
                Peer::Bare => !is_whole,
                Peer::TokioAlt => !is_whole && cfg!(tokio_unstable),
                Peer::Tokio | Peer::Wheel => true,
            })
    }

    /// One run. It says to the plugin when to count, and then how many operations there were.
    pub(crate) fn play(self, peer: Peer) -> Result<()> {
        let operations = match (self.service, peer) {
            (Service::Gateway, Peer::Tokio) => self.gateway::<Tokio>()?,
            (Service::Gateway, _) => self.gateway::<Wheel>()?,
            (_, Peer::Bare) => self.small::<Bare>(),
            (_, Peer::Tokio) => self.small::<Tokio>(),
            (_, Peer::TokioAlt) => self.small::<Alt>(),
            (_, Peer::Wheel) => self.small::<Wheel>(),
        };
        let maps = fs::read_to_string("/proc/self/maps")?;
        let (start, _) = maps.split_once('-').context("no program")?;
        println!("[{operations},{}]", u64::from_str_radix(start, 16)?);
        Ok(())
    }

    /// Four connections per worker, clients and backends on the same workers. A request is an operation.
    fn gateway<T: Stack>(self) -> Result<u64> {
        let load = Load {
            workers: self.workers,
            connections: 4 * self.workers as u64,
            requests: 20,
            limit: Duration::from_secs(100),
        };
        load.play::<T>(|| println!())
    }

    fn small<T: Timers>(self) -> u64 {
        let workers = self.workers;
        let shape = match self.service {
            Service::Conns => Shape::Conns(4 * workers),
            Service::Calls => Shape::Calls(2 * workers),
            _ => Shape::Fresh(100),
        };
        // As many as it takes for what the first ones cost to be forgotten.
        let count = (1000 * workers).max(25_000);
        let runtime = T::runtime(workers);
        // Another timer is always due before those that are counted, as in a service.
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
