//! What is simulated: one service in small, with one kind of timer, on as many workers as there are to be processors.

use std::future::pending;
use std::time::Duration;

use clap::ValueEnum;
use timers::shapes::{Shape, Timer};
use tokio::runtime::{Builder, Runtime};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Service {
    Conns,
    Calls,
    Fresh,
}

impl Service {
    /// In a few words.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Conns => "tasks with a timer each",
            Self::Calls => "pairs of tasks under timeouts",
            Self::Fresh => "a new task per timer",
        }
    }

    fn shape(self, workers: usize) -> Shape {
        match self {
            Self::Conns => Shape::Conns(4 * workers),
            Self::Calls => Shape::Calls(2 * workers),
            Self::Fresh => Shape::Fresh(100),
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
pub(crate) fn play(service: Service, peer: Peer, workers: usize) {
    let runtime = peer.runtime(workers);
    let shape = service.shape(workers);
    match peer {
        Peer::Bare => run(&runtime, shape, workers, |_| pending()),
        Peer::Wheel => run(&runtime, shape, workers, wheel::sleep),
        _ => run(&runtime, shape, workers, tokio::time::sleep),
    }
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
