//! What came of a side: each round from the process that ran it to the one that compares, as JSON, and there the medians.

use common::{Side, median};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::Options;
use crate::load::Load;

/// Everything about one round of one side.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Outcome {
    /// While all are pending; `None` where the system does not tell.
    pub(crate) bytes_per_timer: Option<f64>,
    pub(crate) loads: Vec<Throughput>,
    /// With the most workers.
    pub(crate) late: Quantiles,
    pub(crate) expired: u64,
    pub(crate) waits: Quantiles,
}

/// The load with so many workers.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Throughput {
    pub(crate) workers: usize,
    pub(crate) timeouts_per_second: f64,
    /// What was answered, timed out, and was early.
    counts: [u64; 3],
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

impl Throughput {
    pub(crate) fn of(workers: usize, timeouts: u64, load: &Load) -> Self {
        Throughput {
            workers,
            timeouts_per_second: timeouts as f64 / load.took.as_secs_f64(),
            counts: [load.answered, load.late.len(), load.early],
        }
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

    pub(crate) fn bytes_per_timer(&self) -> Option<f64> {
        let bytes = self.outcomes.iter().map(|round| round.bytes_per_timer);
        Some(median(&bytes.collect::<Option<Vec<_>>>()?))
    }

    /// Where a round is not what the options say.
    pub(crate) fn faults(&self, options: &Options) -> Vec<String> {
        let rounds = self.outcomes.iter();
        let faults = rounds.flat_map(|round| round.faults(options));
        let name = self.side.name();
        faults.map(|fault| format!("{name}, {fault}")).collect()
    }
}

impl Outcome {
    fn faults(&self, options: &Options) -> Vec<String> {
        let lost = options.lost_tasks();
        let wanted = [options.tasks - lost, lost, 0];
        let mut faults = Vec::new();
        for load in self.loads.iter().filter(|load| load.counts != wanted) {
            let (workers, counts) = (load.workers, load.counts);
            faults.push(format!(
                "{workers} workers: answered, timed out, early: {counts:?}, not {wanted:?}"
            ));
        }
        if self.expired != options.tasks {
            faults.push(format!("expired: {}", self.expired));
        }
        faults
    }
}
