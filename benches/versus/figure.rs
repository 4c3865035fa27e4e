//! A figure: contenders that do the same work, round after round in turn, and what they are compared by.

use std::time::Duration;

use serde::Deserialize;

use crate::outcome::{Outcome, Row};
use crate::peer::{Bare, Timers as _};
use crate::process::undisturbed;
use crate::race::Sides;

/// How much of a workload to run.
#[derive(Clone, Copy)]
pub(crate) struct Scale {
    pub(crate) quick: bool,
}

impl Scale {
    /// `count`, or a fifth of it when in a hurry.
    pub(crate) fn of(self, count: usize) -> usize {
        if self.quick { count / 5 } else { count }
    }

    pub(crate) fn time(self, time: Duration) -> Duration {
        if self.quick { time / 4 } else { time }
    }
}

/// What a side did; both sides of a round must have done the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Did {
    pub(crate) armed: u64,
    pub(crate) moved: u64,
    pub(crate) fired: u64,
    pub(crate) cancelled: u64,
}

impl Did {
    /// `count` timers armed, and all of them cancelled.
    pub(crate) fn cancelled(count: u64) -> Self {
        Self {
            armed: count,
            cancelled: count,
            ..Self::default()
        }
    }

    /// `count` timers armed, and all of them fired.
    pub(crate) fn fired(count: u64) -> Self {
        Self {
            armed: count,
            fired: count,
            ..Self::default()
        }
    }
}

/// What one side measured in one round: a value for each line of the figure.
pub(crate) struct Measured {
    pub(crate) values: Vec<f64>,
    pub(crate) did: Did,
}

impl Measured {
    pub(crate) fn new(values: impl Into<Vec<f64>>, did: Did) -> Self {
        Self {
            values: values.into(),
            did,
        }
    }
}

#[derive(Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unit {
    #[default]
    Nanos,
    Bytes,
    Times,
    /// The only one of which more is better.
    SpeedUp,
    Count,
}

/// One value of a figure, and what it is to reach.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Line {
    pub(crate) what: &'static str,
    pub(crate) unit: Unit,
    /// The ratio to reach against the first peer.
    pub(crate) ratio: Option<f64>,
    /// The same when the work without a timer is taken off both.
    pub(crate) own: Option<f64>,
    /// What our value may be at most.
    pub(crate) at_most: Option<f64>,
    /// The ratio to reach against tokio's timer per worker.
    pub(crate) alt: Option<f64>,
    /// The same when the work without a timer is taken off both.
    pub(crate) alt_own: Option<f64>,
}

impl Line {
    /// How many times better than the peer's our value is.
    pub(crate) fn compare(&self, peer: f64, ours: f64) -> f64 {
        match self.unit {
            _ if peer == ours => 1.0,
            Unit::SpeedUp => ours / peer,
            _ => peer / ours,
        }
    }
}

/// A figure in the catalogue.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Description {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    #[serde(default = "seven")]
    rounds: usize,
    pub(crate) lines: Vec<Line>,
}

fn seven() -> usize {
    7
}

/// A named comparison of ours with its peers.
pub(crate) struct Figure {
    pub(crate) description: Description,
    pub(crate) sides: Sides,
}

impl Figure {
    /// Lets all sides run in turn, the other way round every second time.
    pub(crate) fn run(&self, scale: Scale, rounds: Option<usize>, patient: bool) -> Outcome {
        let usual = if scale.quick {
            3
        } else {
            self.description.rounds
        };
        let rounds = (0..rounds.unwrap_or(usual)).map(|round| {
            let run = || self.round(round, scale);
            if patient { undisturbed(run) } else { run() }
        });
        self.outcome(&rounds.collect::<Vec<_>>())
    }

    /// One round; the values are ordered as the sides are.
    fn round(&self, round: usize, scale: Scale) -> Vec<Vec<f64>> {
        let mut measured: Vec<_> = self.sides.0.iter().map(|_| None).collect();
        let mut order: Vec<usize> = (0..measured.len()).collect();
        if round % 2 == 0 {
            order.reverse();
        }
        for side in order {
            measured[side] = Some((self.sides.0[side].run)(scale));
        }
        let measured: Vec<Measured> = measured.into_iter().flatten().collect();
        self.check(&measured);
        measured.into_iter().map(|side| side.values).collect()
    }

    /// The same work on every side, or there is nothing to compare.
    fn check(&self, measured: &[Measured]) {
        let Description { name, lines, .. } = &self.description;
        for (side, contender) in measured.iter().zip(&self.sides.0) {
            let peer = contender.name;
            assert_eq!(
                side.did, measured[0].did,
                "{name}: {peer} (left) and ours did different work"
            );
            assert_eq!(side.values.len(), lines.len(), "{name}: a value a line");
        }
    }

    /// `rounds` has a value for each side and line.
    fn outcome(&self, rounds: &[Vec<Vec<f64>>]) -> Outcome {
        let sides = &self.sides.0;
        let bare = sides.iter().position(|side| side.name == <Bare>::NAME);
        let mut rows = Vec::new();
        for (index, line) in self.description.lines.iter().enumerate() {
            let column = |side: usize| -> Vec<f64> {
                rounds.iter().map(|round| round[side][index]).collect()
            };
            let row = |side: usize, bare: Option<usize>| {
                let bare = bare.map(column);
                let peer = sides[side].name;
                Row::new(*line, peer, side == 1, [column(side), column(0)], bare)
            };
            rows.extend((1..sides.len()).map(|side| row(side, None)));
            if bare.is_some() {
                let timers = (1..sides.len()).filter(|&side| Some(side) != bare);
                rows.extend(timers.map(|side| row(side, bare)));
            }
        }
        Outcome {
            name: self.description.name,
            rows,
        }
    }
}
