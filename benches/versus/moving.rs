//! Tasks that move between workers while their timers are pending, as those of services do.

use std::time::Instant;

use timers::shapes::Shape;

use crate::figure::{Did, Measured, Scale};
use crate::peer::Peer;
use crate::race::Workload;
use crate::stage::Stage;

/// A service in small on a current-thread runtime, which has no workers, or on as many workers.
#[derive(Clone, Copy)]
pub(crate) struct Moving {
    pub(crate) shape: Shape,
    pub(crate) workers: usize,
}

impl Moving {
    const COUNT: usize = 200_000;
}

impl Workload for Moving {
    fn run<P: Peer>(&self, scale: Scale) -> Measured {
        let stage = Stage::new::<P>(self.workers);
        let spawners = self.workers.max(1);
        let play = |count| stage.run(self.shape.play(P::sleep, spawners, count));
        play(Self::COUNT / 10);
        let begin = Instant::now();
        let count = play(scale.of(Self::COUNT));
        let cost = begin.elapsed().as_nanos() as f64 / count as f64;
        Measured::new([cost], Did::cancelled(count))
    }
}
