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
    pub(crate) theirs: Vec<f64>,
    pub(crate) ours: Vec<f64>,
    /// How many times better than theirs our value is.
    pub(crate) ratio: f64,
    /// The same round by round, sorted.
    pub(crate) ratios: Vec<f64>,
    pub(crate) goal: Goal,
}

/// What a row is to reach.
#[derive(Clone, Copy, Default)]
pub(crate) struct Goal {
    pub(crate) ratio: Option<f64>,
    /// What our value may be.
    pub(crate) at_most: Option<f64>,
}

impl Goal {
    pub(crate) fn ratio(ratio: Option<f64>) -> Self {
        Self {
            ratio,
            at_most: None,
        }
    }
}

impl Row {
    /// The two sides as they were measured. The ratio is the median of the rounds' ratios.
    pub(crate) fn whole(
        line: Line,
        peer: &'static str,
        theirs: Vec<f64>,
        ours: Vec<f64>,
        goal: Goal,
    ) -> Self {
        let ratios = ratios(&line, &theirs, &ours);
        Self {
            line,
            own: false,
            peer,
            theirs,
            ours,
            ratio: median(&ratios),
            ratios,
            goal,
        }
    }

    /// The two sides less the median of `bare`. The ratio is that of their medians: the difference of a single round is
    /// too uncertain to divide by.
    pub(crate) fn own(
        line: Line,
        peer: &'static str,
        theirs: Vec<f64>,
        ours: Vec<f64>,
        bare: &[f64],
        goal: Goal,
    ) -> Self {
        // Nobody can tell what is less from nothing.
        const LEAST: f64 = 1.0;
        let bare = median(bare);
        let less = |values: Vec<f64>| -> Vec<f64> {
            values
                .into_iter()
                .map(|value| (value - bare).max(LEAST))
                .collect()
        };
        let (theirs, ours) = (less(theirs), less(ours));
        Self {
            line,
            own: true,
            peer,
            ratio: line.compare(median(&theirs), median(&ours)),
            ratios: ratios(&line, &theirs, &ours),
            theirs,
            ours,
            goal,
        }
    }

    /// Whether every goal of this row was reached; `None` without one.
    pub(crate) fn reached(&self) -> Option<bool> {
        let ratio = self.goal.ratio.map(|goal| self.ratio >= goal);
        let bound = self.goal.at_most.map(|goal| median(&self.ours) <= goal);
        match (ratio, bound) {
            (None, None) => None,
            _ => Some(ratio.unwrap_or(true) && bound.unwrap_or(true)),
        }
    }

    /// What was measured, within the figure.
    pub(crate) fn what(&self) -> String {
        let own = if self.own { ", own" } else { "" };
        format!("{}{own}", self.line.what)
    }
}

/// Sorted.
fn ratios(line: &Line, theirs: &[f64], ours: &[f64]) -> Vec<f64> {
    let sides = theirs.iter().zip(ours);
    let mut ratios: Vec<f64> = sides
        .map(|(&theirs, &ours)| line.compare(theirs, ours))
        .collect();
    ratios.sort_by(f64::total_cmp);
    ratios
}
