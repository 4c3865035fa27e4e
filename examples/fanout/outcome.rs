//! What came of a side: from the process that ran it to the one that compares, as JSON.

use common::{Side, median};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::Options;
use crate::load::Load;

/// Everything about one side.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Outcome {
    pub(crate) side: Side,
    /// While all are pending; `None` where the system does not tell.
    pub(crate) bytes_per_timer: Option<f64>,
    pub(crate) loads: Vec<Throughput>,
    /// With the most workers.
    pub(crate) late: Quantiles,
    pub(crate) expired: Vec<u64>,
    pub(crate) waits: Quantiles,
}

/// The load with so many workers.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Throughput {
    pub(crate) workers: usize,
    /// The median of the rounds.
    pub(crate) timeouts_per_second: f64,
    /// Of every round: what was answered, timed out, and was early.
    counts: Vec<[u64; 3]>,
}

/// Nanoseconds at some quantiles, in rising order.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct Quantiles(pub(crate) Vec<(f64, f64)>);

impl Quantiles {
    /// Where a distribution is looked at: evenly, and ever closer to its end. At each the median of the rounds: the system
    /// takes a processor away now and then.
    pub(crate) fn of<'a>(rounds: impl Iterator<Item = &'a Histogram<u64>> + Clone) -> Self {
        let even = (0..=99).map(|percent| f64::from(percent) / 100.0);
        let tail = [0.995, 0.999, 0.9995, 0.9999, 1.0];
        let at = |quantile| {
            let values = rounds
                .clone()
                .map(|round| round.value_at_quantile(quantile));
            let values: Vec<_> = values.map(|nanos| nanos as f64).collect();
            (quantile, median(&values))
        };
        Quantiles(even.chain(tail).map(at).collect())
    }

    pub(crate) fn at(&self, quantile: f64) -> f64 {
        let found = self.0.iter().find(|(at, _)| *at >= quantile);
        found.map_or(0.0, |&(_, nanos)| nanos)
    }
}

impl Throughput {
    pub(crate) fn of(workers: usize, timeouts: u64, rounds: &[Load]) -> Self {
        let rate = |round: &Load| timeouts as f64 / round.took.as_secs_f64();
        let counts = |round: &Load| [round.answered, round.late.len(), round.early];
        Throughput {
            workers,
            timeouts_per_second: median(&rounds.iter().map(rate).collect::<Vec<_>>()),
            counts: rounds.iter().map(counts).collect(),
        }
    }
}

impl Outcome {
    /// Where it is not what the options say.
    pub(crate) fn faults(&self, options: &Options) -> Vec<String> {
        let lost = options.lost_tasks();
        let (wanted, rounds) = ([options.tasks - lost, lost, 0], options.rounds as usize);
        let mut faults = Vec::new();
        for load in &self.loads {
            if load.counts != vec![wanted; rounds] {
                faults.push(format!(
                    "{}, {} workers: answered, timed out, early: {:?}, not {wanted:?} each",
                    self.side.name(),
                    load.workers,
                    load.counts
                ));
            }
        }
        if self.expired != vec![options.tasks; rounds] {
            let (name, expired) = (self.side.name(), &self.expired);
            faults.push(format!("{name}: expired {expired:?}"));
        }
        faults
    }
}
