//! What came of a figure: a row for each of its values and each peer.

use crate::figure::Line;

/// What came of a figure.
pub(crate) struct Outcome {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) rows: Vec<Row>,
}

/// One value of a figure against one peer.
pub(crate) struct Row {
    pub(crate) line: Line,
    pub(crate) peer: &'static str,
    pub(crate) theirs: Vec<f64>,
    pub(crate) ours: Vec<f64>,
    /// Round by round, sorted.
    pub(crate) ratios: Vec<f64>,
}

impl Row {
    pub(crate) fn new(line: Line, peer: &'static str, theirs: Vec<f64>, ours: Vec<f64>) -> Self {
        let mut ratios: Vec<f64> = theirs
            .iter()
            .zip(&ours)
            .map(|(&theirs, &ours)| line.compare(theirs, ours))
            .collect();
        ratios.sort_by(f64::total_cmp);
        Self {
            line,
            peer,
            theirs,
            ours,
            ratios,
        }
    }

    /// Whether every goal of this row was reached; `None` without one.
    pub(crate) fn reached(&self) -> Option<bool> {
        let ratio = self.line.ratio.map(|goal| median(&self.ratios) >= goal);
        let bound = self.line.at_most.map(|goal| median(&self.ours) <= goal);
        match (ratio, bound) {
            (None, None) => None,
            _ => Some(ratio.unwrap_or(true) && bound.unwrap_or(true)),
        }
    }
}

pub(crate) fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        (values[middle - 1] + values[middle]) / 2.0
    }
}
