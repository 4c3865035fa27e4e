//! The sides of a figure: peers, all at the same work.

use timers::{Tokio, Wheel};

use crate::figure::{Measured, Scale};
use crate::peer::{Bare, Peer};

/// Work that any peer can do.
pub(crate) trait Workload: Copy + 'static {
    fn run<P: Peer>(&self, scale: Scale) -> Measured;
}

/// A side of a figure.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    pub(crate) run: Box<dyn Fn(Scale) -> Measured>,
}

/// Ours first, then the peer that the goals are about, then all others.
pub(crate) struct Sides(pub(crate) Vec<Contender>);

impl Sides {
    pub(crate) fn and<P: Peer, W: Workload>(self, workload: W) -> Self {
        self.and_run(P::NAME, move |scale| workload.run::<P>(scale))
    }

    pub(crate) fn and_run(
        mut self,
        name: &'static str,
        run: impl Fn(Scale) -> Measured + 'static,
    ) -> Self {
        let run = Box::new(run);
        self.0.push(Contender { name, run });
        self
    }
}

/// One peer against another one.
pub(crate) fn duel<Ours: Peer, Theirs: Peer, W: Workload>(workload: W) -> Sides {
    Sides(Vec::new())
        .and::<Ours, W>(workload)
        .and::<Theirs, W>(workload)
}

/// Ours against `tokio::time`, and against its timer per worker, where this build has it.
pub(crate) fn race<W: Workload>(workload: W) -> Sides {
    let sides = duel::<Wheel, Tokio, W>(workload);
    #[cfg(tokio_unstable)]
    let sides = sides.and::<crate::peer::Alt, W>(workload);
    sides
}

/// Also against the same work without a timer, and once more with that taken off all sides.
pub(crate) fn bare_race<W: Workload>(workload: W) -> Sides {
    race(workload).and::<Bare, W>(workload)
}
