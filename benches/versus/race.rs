//! A figure whose sides are peers, all at the same work.

use crate::figure::{Figure, Goals, Line, Measured, Scale};
use crate::peer::{Bare, Peer, Pingora, Tokio, Wheel};

/// Work that any peer can do.
pub(crate) trait Workload: Copy + 'static {
    fn run<P: Peer>(&self, scale: Scale) -> Measured;
}

/// A figure whose sides all do the same [`Workload`].
pub(crate) struct Race<W> {
    figure: Figure,
    workload: W,
}

/// Ours against `tokio::time`, and without a goal against its timer per worker, where this build has it.
pub(crate) fn race<W: Workload>(name: &'static str, about: &'static str, workload: W) -> Race<W> {
    let race = duel::<Wheel, Tokio, W>(name, about, workload);
    #[cfg(tokio_unstable)]
    let race = race.beside::<crate::peer::Alt>();
    race
}

/// One peer against another one.
pub(crate) fn duel<Ours: Peer, Theirs: Peer, W: Workload>(
    name: &'static str,
    about: &'static str,
    workload: W,
) -> Race<W> {
    let figure = Figure::new(name, about, move |scale| workload.run::<Ours>(scale));
    Race {
        figure: figure.peer(Theirs::NAME, move |scale| workload.run::<Theirs>(scale)),
        workload,
    }
}

impl<W: Workload> Race<W> {
    pub(crate) fn line(self, line: Line) -> Self {
        Self {
            figure: self.figure.line(line),
            ..self
        }
    }

    pub(crate) fn rounds(self, rounds: usize) -> Self {
        Self {
            figure: self.figure.rounds(rounds),
            ..self
        }
    }

    /// What is to be reached against tokio's timer per worker.
    pub(crate) fn alt(self, goals: Goals) -> Self {
        Self {
            figure: self.figure.goals("tokio-alt", goals),
            ..self
        }
    }

    /// Also against `pingora_timeout`, without a goal.
    pub(crate) fn pingora(self) -> Self {
        self.beside::<Pingora>()
    }

    /// Also against this peer, without a goal.
    pub(crate) fn beside<P: Peer>(self) -> Self {
        let workload = self.workload;
        let run = move |scale| workload.run::<P>(scale);
        Self {
            figure: self.figure.contender(P::NAME, run, Goals::None),
            ..self
        }
    }

    /// Also against the same work without a timer, and once more with that taken off all sides.
    pub(crate) fn bare(self) -> Self {
        let workload = self.workload;
        self.bare_as(move |scale| workload.run::<Bare>(scale))
    }

    /// The same, where `run` is the work without a timer.
    pub(crate) fn bare_as(self, run: impl Fn(Scale) -> Measured + 'static) -> Self {
        Self {
            figure: self.figure.bare(run),
            ..self
        }
    }

    /// Also against the least that any timer can reach, which cannot be taken off.
    pub(crate) fn floor(self, run: impl Fn(Scale) -> Measured + 'static) -> Self {
        Self {
            figure: self.figure.contender(Bare::NAME, run, Goals::None),
            ..self
        }
    }

    pub(crate) fn done(self) -> Figure {
        self.figure
    }
}
