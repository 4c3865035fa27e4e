//! A figure: sides that do the same work, round after round in turn, and what they are compared by.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use common::others::{Neighbours, QUIET};
use serde::Deserialize;

use crate::catalogue::measure;
use crate::outcome::Outcome;

/// How many timers a side moved, how many fired and how many it cancelled.
type Did = [u64; 3];

/// What one side measured in one round.
pub(crate) struct Measured {
    /// For each line of the figure.
    values: Vec<f64>,
    /// The same on all sides of a round.
    did: Did,
}

impl Measured {
    pub(crate) fn new(values: impl Into<Vec<f64>>, did: Did) -> Self {
        let values = values.into();
        Self { values, did }
    }

    pub(crate) fn cancelled(values: impl Into<Vec<f64>>, count: usize) -> Self {
        Self::new(values, [0, 0, count as u64])
    }

    pub(crate) fn fired(values: impl Into<Vec<f64>>, count: u64) -> Self {
        Self::new(values, [0, count, 0])
    }
}

#[derive(Clone, Copy, Default, Deserialize)]
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
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Line {
    pub(crate) what: &'static str,
    pub(crate) unit: Unit,
    /// What our value may be at most.
    pub(crate) at_most: Option<f64>,
    /// The ratio to reach against a peer; `, own` where the work without a timer is taken off both.
    pub(crate) goals: BTreeMap<&'static str, f64>,
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
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    rounds: Option<u32>,
    /// Ours first.
    #[serde(default = "sides")]
    pub(crate) sides: Vec<&'static str>,
    pub(crate) lines: Vec<Line>,
}

fn sides() -> Vec<&'static str> {
    vec!["wheel", "tokio", "tokio-alt"]
}

impl Figure {
    /// Lets all sides run in turn, the other way round every second time.
    pub(crate) fn run(&self, rounds: Option<u32>, patient: bool) -> Outcome<'_> {
        let rounds = (0..rounds.or(self.rounds).unwrap_or(7)).map(|number| {
            let round = || self.round(number);
            if patient { undisturbed(round) } else { round() }
        });
        Outcome::new(self, &rounds.collect::<Vec<_>>())
    }

    /// The values of each side.
    fn round(&self, number: u32) -> Vec<Vec<f64>> {
        let mut order: Vec<_> = self.sides.iter().enumerate().collect();
        if number % 2 == 0 {
            order.reverse();
        }
        let measured = order
            .into_iter()
            .map(|(at, side)| (at, measure(self.name, side)));
        let measured: BTreeMap<usize, Measured> = measured.collect();
        for (at, side) in &measured {
            let (figure, name) = (self.name, self.sides[*at]);
            assert_eq!(
                side.did, measured[&0].did,
                "{figure}: {name} (left) and ours did different work"
            );
            assert_eq!(
                side.values.len(),
                self.lines.len(),
                "{figure}: a value a line"
            );
        }
        measured.into_values().map(|side| side.values).collect()
    }
}

/// Takes a round when others use little of the machine, and again if they disturbed it; a few times at most.
fn undisturbed<R>(round: impl Fn() -> R) -> R {
    for _ in 0..3 {
        // Ten seconds at most.
        (0..50).find(|_| alone(|| thread::sleep(Duration::from_millis(200))).is_some());
        if let Some(result) = alone(&round) {
            return result;
        }
    }
    round()
}

/// What comes of `work`, unless others used the machine meanwhile.
fn alone<R>(work: impl Fn() -> R) -> Option<R> {
    let neighbours = Neighbours::watch();
    let result = work();
    let is_quiet = neighbours.is_none_or(|neighbours| neighbours.busy() < QUIET);
    is_quiet.then_some(result)
}
