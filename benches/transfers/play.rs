//! What is simulated: one service in small, with one kind of timer, on as many workers as there are to be processors.

use std::future::pending;
use std::time::Duration;

use ::gateway::{Load, Stack, Tokio, Wheel};
use anyhow::{Result, bail};
use clap::ValueEnum;
use timers::shapes::{Shape, Timer};
use tokio::runtime::{Builder, Runtime};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Service {
    Conns,
    Calls,
    Fresh,
    /// A whole service, which has no timers to be left out, and a runtime of its own.
    Gateway,
}

impl Service {
    /// Those in small, which are simulated where none is named.
    pub(crate) const SMALL: [Self; 3] = [Self::Conns, Self::Calls, Self::Fresh];

    pub(crate) fn takes(self, peer: Peer) -> bool {
        self != Self::Gateway || matches!(peer, Peer::Tokio | Peer::Wheel)
    }

    /// In a few words.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Conns => "tasks with a timer each",
            Self::Calls => "pairs of tasks under timeouts",
            Self::Fresh => "a new task per timer",
            Self::Gateway => "requests to an HTTP gateway",
        }
    }

    /// `None` for the whole service.
    fn shape(self, workers: usize) -> Option<Shape> {
        match self {
            Self::Conns => Some(Shape::Conns(4 * workers)),
            Self::Calls => Some(Shape::Calls(2 * workers)),
            Self::Fresh => Some(Shape::Fresh(100)),
            Self::Gateway => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Peer {
    /// The same work without a timer.
    Bare,
    Tokio,
    /// tokio's timer per worker.
    #[cfg(tokio_unstable)]
    TokioAlt,
    Wheel,
}

impl Peer {
    fn runtime(self, workers: usize) -> Runtime {
        let mut builder = Builder::new_multi_thread();
        #[cfg(tokio_unstable)]
        if self == Self::TokioAlt {
            builder.enable_alt_timer();
        }
        let builder = builder.worker_threads(workers).enable_all();
        builder.build().expect("a runtime")
    }
}

/// One run. It says to the plugin when to count, and then how many operations there were.
pub(crate) fn play(service: Service, peer: Peer, workers: usize) -> Result<()> {
    let Some(shape) = service.shape(workers) else {
        return match peer {
            Peer::Tokio => gateway::<Tokio>(workers),
            Peer::Wheel => gateway::<Wheel>(workers),
            _ => bail!("the gateway has tokio's timers and ours alone"),
        };
    };
    let runtime = peer.runtime(workers);
    match peer {
        Peer::Bare => run(&runtime, shape, workers, |_| pending()),
        Peer::Wheel => run(&runtime, shape, workers, wheel::sleep),
        _ => run(&runtime, shape, workers, tokio::time::sleep),
    }
    Ok(())
}

/// Four connections per worker, clients and backends on the same workers. A request is an operation.
fn gateway<T: Stack>(workers: usize) -> Result<()> {
    let load = Load {
        workers,
        connections: 4 * workers as u64,
        requests: 20,
        limit: Duration::from_secs(100),
    };
    let mut marks = ["begin", "end"].iter();
    let requests = load.play::<T>(|| println!("{}", marks.next().unwrap_or(&"")))?;
    println!("operations {requests}");
    Ok(())
}

fn run<S: Timer>(
    runtime: &Runtime,
    shape: Shape,
    workers: usize,
    sleep: impl Fn(Duration) -> S + Copy + Send + 'static,
) {
    // As many as it takes for what the first ones cost to be forgotten.
    let count = (1000 * workers).max(25_000);
    // Another timer is always due before those that are counted, as in a service.
    runtime.spawn(async move {
        loop {
            sleep(Duration::from_millis(500)).await;
        }
    });
    let play = |count| {
        let task = runtime.spawn(shape.play(sleep, workers, count));
        runtime.block_on(task).expect("the service panicked")
    };
    play(count / 4);
    println!("begin");
    let count = play(count);
    println!("end");
    println!("operations {count}");
}
