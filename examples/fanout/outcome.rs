//! What came of a side: each round from the process that ran it to the one that compares, as JSON, and there the medians.

use common::{Side, median};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Everything about one round of one side.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Outcome {
    /// While all are pending; 0 where the system does not tell.
    pub(crate) bytes_per_timer: f64,
    /// By numbers of workers.
    pub(crate) timeouts_per_second: Vec<f64>,
    /// With the most workers.
    pub(crate) late: Quantiles,
    pub(crate) waits: Quantiles,
}

/// Nanoseconds at some quantiles, in rising order.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct Quantiles(pub(crate) Vec<(f64, f64)>);

impl Quantiles {
    /// Where a distribution is looked at: evenly, and ever closer to its end.
    pub(crate) fn of(nanos: &Histogram<u64>) -> Self {
        let even = (0..=99).map(|percent| f64::from(percent) / 100.0);
        let tail = [0.995, 0.999, 0.9995, 0.9999, 1.0];
        let at = |quantile| (quantile, nanos.value_at_quantile(quantile) as f64);
        Quantiles(even.chain(tail).map(at).collect())
    }

    pub(crate) fn at(&self, quantile: f64) -> f64 {
        let found = self.0.iter().find(|(at, _)| *at >= quantile);
        found.map_or(0.0, |&(_, nanos)| nanos)
    }
}

/// All rounds of one side. Medians are what counts: the system takes a processor away now and then.
#[derive(Debug)]
pub(crate) struct Rounds {
    pub(crate) side: Side,
    pub(crate) outcomes: Vec<Outcome>,
}

impl Rounds {
    pub(crate) fn median(&self, get: impl Fn(&Outcome) -> f64) -> f64 {
        median(&self.outcomes.iter().map(get).collect::<Vec<_>>())
    }

    /// How many times another side's, in the same round each.
    pub(crate) fn ratio(&self, other: &Rounds, get: impl Fn(&Outcome) -> f64) -> f64 {
        let rounds = self.outcomes.iter().zip(&other.outcomes);
        let ratios = rounds.map(|(ours, theirs)| get(ours) / get(theirs));
        median(&ratios.collect::<Vec<_>>())
    }
}
