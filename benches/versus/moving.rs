//! Tasks that move between workers while their timers are pending, as those of services do.

use std::time::Instant;

use crate::figure::{Did, Figure, Goals, Line, Measured, Scale, nanos};
use crate::peer::{Peer, Tokio, Wheel};
use crate::race::{Workload, duel, race};
use crate::shapes::Shape;
use crate::stage::Stage;

/// Tasks that move between workers: the figures that tell what a service gains.
pub(crate) fn figures() -> Vec<Figure> {
    let figure = |name, about, shape, workers, own| {
        let each = Line {
            own,
            ..nanos("each")
        };
        let workload = Moving { shape, workers };
        // tokio's timers per worker are for runtimes with workers.
        let sides = match workers {
            0 => duel::<Wheel, Tokio, _>(name, about, workload),
            _ => race(name, about, workload),
        };
        sides.line(each).bare().rounds(9)
    };
    let conns = Shape::Conns(1000);
    let calls = Shape::Calls(64);
    let fresh = Shape::Fresh(100);
    vec![
        figure(
            "conns-0",
            "a thousand tasks take turns, a timer each, current-thread runtime",
            conns,
            0,
            Some(1.8),
        )
        .done(),
        figure("conns-1", "the same on one worker", conns, 1, None).done(),
        figure("conns-2", "the same on two workers", conns, 2, Some(16.0))
            .alt(Goals::Own(5.0))
            .done(),
        figure(
            "calls-0",
            "64 pairs of tasks call each other under timeouts, current-thread runtime",
            calls,
            0,
            None,
        )
        .done(),
        figure("calls-1", "the same on one worker", calls, 1, None).done(),
        figure("calls-2", "the same on two workers", calls, 2, Some(20.0))
            .alt(Goals::Own(5.0))
            .done(),
        figure(
            "fresh-0",
            "a fresh task per timer, a hundred at a time, current-thread runtime",
            fresh,
            0,
            None,
        )
        .done(),
        figure("fresh-1", "the same on one worker", fresh, 1, Some(2.2)).done(),
        figure("fresh-2", "the same on two workers", fresh, 2, Some(7.0))
            .alt(Goals::Own(4.0))
            .done(),
    ]
}

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
