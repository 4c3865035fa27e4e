//! What came of a figure: a row for each of its values and each peer.

use common::median;

use crate::figure::Line;

/// What came of a figure.
pub(crate) struct Outcome {
    pub(crate) name: &'static str,
    pub(crate) rows: Vec<Row>,
}

/// One value of a figure against one peer.
pub(crate) struct Row {
    pub(crate) line: Line,
    /// Whether the work without a timer is taken off.
    pub(crate) own: bool,
    pub(crate) peer: &'static str,
    /// Medians.
    pub(crate) theirs: f64,
    pub(crate) ours: f64,
    /// How many times better than theirs our value is.
    pub(crate) ratio: f64,
    /// The same round by round: the least and the most.
    pub(crate) range: [f64; 2],
    /// The ratio to reach, and what our value may be.
    pub(crate) goal: [Option<f64>; 2],
}

impl Row {
    /// The sides as they were measured, and the median of the rounds' ratios; or the sides less the median of `bare`, and
    /// the ratio of their medians: the difference of a single round is too uncertain to divide by.
    pub(crate) fn new(
        line: Line,
        peer: &'static str,
        is_first: bool,
        sides: [Vec<f64>; 2],
        bare: Option<f64>,
    ) -> Self {
        // What is less cannot be told from nothing.
        const LEAST: f64 = 1.0;
        let own = bare.is_some();
        let less = |value: f64| bare.map_or(value, |bare| (value - bare).max(LEAST));
        let [theirs, ours] = sides.map(|side| side.into_iter().map(less).collect::<Vec<_>>());
        let rounds = theirs.iter().zip(&ours);
        let ratios: Vec<f64> = rounds.map(|(&a, &b)| line.compare(a, b)).collect();
        let (theirs, ours) = (median(&theirs), median(&ours));
        Self {
            line,
            own,
            peer,
            theirs,
            ours,
            ratio: if own {
                line.compare(theirs, ours)
            } else {
                median(&ratios)
            },
            range: [
                ratios.iter().copied().fold(f64::MAX, f64::min),
                ratios.iter().copied().fold(f64::MIN, f64::max),
            ],
            goal: goal(&line, peer, is_first, own),
        }
    }

    /// Whether every goal of this row was reached; `None` without one.
    pub(crate) fn reached(&self) -> Option<bool> {
        let [ratio, at_most] = self.goal;
        let ratio = ratio.map(|goal| self.ratio >= goal);
        let bound = at_most.map(|goal| self.ours <= goal);
        (ratio.is_some() || bound.is_some()).then(|| ratio.unwrap_or(true) && bound.unwrap_or(true))
    }

    /// What was measured, within the figure.
    pub(crate) fn what(&self) -> String {
        let own = if self.own { ", own" } else { "" };
        format!("{}{own}", self.line.what)
    }
}

/// Goals are about the first peer and about tokio's timer per worker.
fn goal(line: &Line, peer: &str, is_first: bool, own: bool) -> [Option<f64>; 2] {
    match (is_first, own) {
        (true, false) => [line.ratio, line.at_most],
        (true, true) => [line.own, None],
        (false, false) if peer == "tokio-alt" => [line.alt, None],
        (false, true) if peer == "tokio-alt" => [line.alt_own, None],
        _ => [None, None],
    }
}
