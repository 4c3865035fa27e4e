//! A figure: sides that do the same work, round after round in turn, and what they are compared by.

use std::thread;
use std::time::Duration;

use common::median;
use common::others::Neighbours;
use serde::Deserialize;

use crate::catalogue::measure;
use crate::outcome::{Outcome, Row};

/// What a side did; all sides of a round must have done the same. What is armed is fired or cancelled.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Did {
    pub(crate) moved: u64,
    pub(crate) fired: u64,
    pub(crate) cancelled: u64,
}

/// What one side measured in one round: a value for each line of the figure.
pub(crate) struct Measured {
    pub(crate) values: Vec<f64>,
    pub(crate) did: Did,
}

impl Measured {
    pub(crate) fn new(values: impl Into<Vec<f64>>, did: Did) -> Self {
        let values = values.into();
        Self { values, did }
    }

    /// All timers were cancelled.
    pub(crate) fn cancelled(values: impl Into<Vec<f64>>, count: usize) -> Self {
        let cancelled = count as u64;
        let did = Did {
            cancelled,
            ..Did::default()
        };
        Self::new(values, did)
    }

    /// All timers fired.
    pub(crate) fn fired(values: impl Into<Vec<f64>>, fired: u64) -> Self {
        let did = Did {
            fired,
            ..Did::default()
        };
        Self::new(values, did)
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
#[serde(default, deny_unknown_fields)]
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    rounds: usize,
    /// Ours first, then the peer that the goals are about, then all others.
    pub(crate) sides: Vec<&'static str>,
    lines: Vec<Line>,
}

impl Default for Figure {
    fn default() -> Self {
        Self {
            name: "",
            about: "",
            rounds: 7,
            sides: vec!["wheel", "tokio", "tokio-alt"],
            lines: Vec::new(),
        }
    }
}

impl Figure {
    /// Lets all sides run in turn, the other way round every second time.
    pub(crate) fn run(&self, rounds: Option<usize>, patient: bool) -> Outcome {
        let rounds = (0..rounds.unwrap_or(self.rounds)).map(|number| {
            let round = || self.round(number);
            if patient { undisturbed(round) } else { round() }
        });
        self.outcome(&rounds.collect::<Vec<_>>())
    }

    /// The values of each side.
    fn round(&self, number: usize) -> Vec<Vec<f64>> {
        let mut order: Vec<usize> = (0..self.sides.len()).collect();
        if number % 2 == 0 {
            order.reverse();
        }
        let measured = order
            .iter()
            .map(|&side| measure(self.name, self.sides[side]));
        let mut measured: Vec<_> = order.iter().zip(measured).collect();
        measured.sort_by_key(|(side, _)| **side);
        let did = &measured[0].1.did;
        for &(&side, ref one) in &measured {
            let (figure, side) = (self.name, self.sides[side]);
            assert_eq!(
                one.did, *did,
                "{figure}: {side} (left) and ours did different work"
            );
            assert_eq!(
                one.values.len(),
                self.lines.len(),
                "{figure}: a value a line"
            );
        }
        measured.into_iter().map(|(_, side)| side.values).collect()
    }

    /// `rounds` has a value for each side and line.
    fn outcome(&self, rounds: &[Vec<Vec<f64>>]) -> Outcome {
        let bare = self.sides.iter().position(|&side| side == "bare");
        let mut rows = Vec::new();
        for (index, &line) in self.lines.iter().enumerate() {
            let column = |side: usize| -> Vec<f64> {
                rounds.iter().map(|round| round[side][index]).collect()
            };
            let row = |side: usize, less: Option<f64>| {
                let values = [column(side), column(0)];
                Row::new(line, self.sides[side], side == 1, values, less)
            };
            let peers = 1..self.sides.len();
            rows.extend(peers.clone().map(|side| row(side, None)));
            if let Some(bare) = bare {
                let less = median(&column(bare));
                let timers = peers.filter(|&side| side != bare);
                rows.extend(timers.map(|side| row(side, Some(less))));
            }
        }
        let name = self.name;
        Outcome { name, rows }
    }
}

/// Takes a round when others use little of the machine, and again if they disturbed it; a few times at most.
fn undisturbed<R>(round: impl Fn() -> R) -> R {
    for _ in 0..3 {
        // Ten seconds at most.
        (0..50).find(|_| is_quiet(|| thread::sleep(Duration::from_millis(200))).1);
        let (result, was_quiet) = is_quiet(&round);
        if was_quiet {
            return result;
        }
    }
    round()
}

/// Whether others left the machine alone meanwhile.
fn is_quiet<R>(work: impl Fn() -> R) -> (R, bool) {
    let neighbours = Neighbours::watch();
    let result = work();
    (
        result,
        neighbours.is_none_or(|neighbours| neighbours.busy() < 0.2),
    )
}
