//! What came of a figure: a row for each of its values and each peer.

use common::median;

use crate::figure::{Figure, Line};

/// What came of a figure.
pub(crate) struct Outcome<'a> {
    pub(crate) name: &'static str,
    /// Of each line and side.
    pub(crate) medians: Vec<(&'a Line, &'static str, f64)>,
    pub(crate) rows: Vec<Row<'a>>,
}

impl<'a> Outcome<'a> {
    /// `rounds` has a value for each side and line.
    pub(crate) fn new(figure: &'a Figure, rounds: &[Vec<Vec<f64>>]) -> Self {
        let (mut medians, mut rows) = (Vec::new(), Vec::new());
        for (index, line) in figure.lines.iter().enumerate() {
            let values = |side: usize| rounds.iter().map(move |round| round[side][index]).collect();
            let (mut bare, mut peers) = (None, Vec::new());
            for (side, &name) in figure.sides.iter().enumerate() {
                let values: Vec<f64> = values(side);
                let median = median(&values);
                medians.push((line, if side == 0 { "ours" } else { name }, median));
                bare = bare.or((name == "bare").then_some(median));
                peers.push((name, values));
            }
            let (_, ours) = peers.remove(0);
            let row = |(name, theirs): &(&'static str, Vec<f64>), bare| {
                Row::new(line, name, [theirs, &ours], bare)
            };
            rows.extend(peers.iter().map(|peer| row(peer, None)));
            peers.retain(|(name, _)| bare.is_some() && *name != "bare");
            rows.extend(peers.iter().map(|peer| row(peer, bare)));
        }
        Self {
            name: figure.name,
            medians,
            rows,
        }
    }
}

/// One value of a figure against one peer.
pub(crate) struct Row<'a> {
    pub(crate) line: &'a Line,
    pub(crate) peer: &'static str,
    /// Says whether the work without a timer is taken off.
    pub(crate) own: &'static str,
    /// Medians.
    pub(crate) theirs: f64,
    pub(crate) ours: f64,
    /// How many times better than theirs our value is.
    pub(crate) ratio: f64,
    /// The same round by round: the least and the most.
    pub(crate) range: [f64; 2],
}

impl<'a> Row<'a> {
    /// The sides as they were measured, and the median of the rounds' ratios; or the sides less the median of `bare`, and
    /// the ratio of their medians: the difference of a single round is too uncertain to divide by.
    fn new(line: &'a Line, peer: &'static str, sides: [&Vec<f64>; 2], bare: Option<f64>) -> Self {
        // What is less cannot be told from nothing.
        const LEAST: f64 = 1.0;
        let less = |value: f64| bare.map_or(value, |bare| (value - bare).max(LEAST));
        let [theirs, ours] = sides.map(|side| side.iter().copied().map(less).collect::<Vec<_>>());
        let rounds = theirs.iter().zip(&ours);
        let mut ratios: Vec<f64> = rounds.map(|(&a, &b)| line.compare(a, b)).collect();
        ratios.sort_by(f64::total_cmp);
        let (theirs, ours) = (median(&theirs), median(&ours));
        let ratio = bare.map_or_else(|| median(&ratios), |_| line.compare(theirs, ours));
        Self {
            line,
            peer,
            own: if bare.is_some() { ", own" } else { "" },
            theirs,
            ours,
            ratio,
            range: [ratios[0], ratios[ratios.len() - 1]],
        }
    }
}
