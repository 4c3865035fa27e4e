//! What came of a side: from the process that ran it to the one that compares, as JSON.

use anyhow::Result;
use common::{Side, median};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::expiry::Expiry;
use crate::load::Load;
use crate::options::Options;

/// Everything about one side.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Outcome {
    pub(crate) side: Side,
    /// While all are pending; `None` where the system does not tell.
    pub(crate) bytes_per_timer: Option<f64>,
    pub(crate) loads: Vec<Throughput>,
    pub(crate) late: Quantiles,
    pub(crate) expired: u64,
    pub(crate) waits: Quantiles,
}

/// The load with so many workers.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Throughput {
    pub(crate) workers: u64,
    /// The median of the rounds.
    pub(crate) timeouts_per_second: f64,
    /// Of every round: what was answered, timed out, and was early.
    pub(crate) counts: Vec<[u64; 3]>,
}

/// Nanoseconds at some quantiles, in rising order.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct Quantiles(pub(crate) Vec<(f64, f64)>);

impl Quantiles {
    /// Where a distribution is looked at: evenly, and ever closer to its end.
    fn of(histogram: &Histogram<u64>) -> Self {
        let even = (0..=99).map(|percent| f64::from(percent) / 100.0);
        let tail = [0.995, 0.999, 0.9995, 0.9999, 1.0];
        let at = |quantile| (quantile, histogram.value_at_quantile(quantile) as f64);
        Quantiles(even.chain(tail).map(at).collect())
    }

    /// At each quantile the median of the rounds: the system takes a processor away now and then.
    fn median(rounds: &[Quantiles]) -> Self {
        let quantiles = rounds[0].0.iter().enumerate();
        let medians = quantiles.map(|(index, &(quantile, _))| {
            let values = rounds.iter().map(|round| round.0[index].1);
            (quantile, median(&values.collect::<Vec<_>>()))
        });
        Quantiles(medians.collect())
    }

    pub(crate) fn at(&self, quantile: f64) -> f64 {
        let found = self.0.iter().find(|(at, _)| *at >= quantile);
        found.map_or(0.0, |&(_, nanos)| nanos)
    }
}

impl Outcome {
    /// Of the expiries of all rounds.
    pub(crate) fn new(side: Side, bytes_per_timer: Option<f64>, rounds: &[Expiry]) -> Self {
        let waits: Vec<_> = rounds
            .iter()
            .map(|round| Quantiles::of(&round.waits))
            .collect();
        Outcome {
            side,
            bytes_per_timer,
            loads: Vec::new(),
            late: Quantiles::default(),
            expired: rounds.iter().map(|round| round.fired).sum(),
            waits: Quantiles::median(&waits),
        }
    }

    /// Adds the rounds with so many workers; the lateness is that of the last added.
    pub(crate) fn add(&mut self, workers: usize, timeouts: u64, rounds: &[Load]) -> Result<()> {
        let mut late = crate::load::histogram()?;
        let mut rates = Vec::new();
        for round in rounds {
            late.add(&round.late)?;
            rates.push(timeouts as f64 / round.took.as_secs_f64());
        }
        self.late = Quantiles::of(&late);
        self.loads.push(Throughput {
            workers: workers as u64,
            timeouts_per_second: median(&rates),
            counts: rounds
                .iter()
                .map(|round| [round.answered, round.timed_out, round.early])
                .collect(),
        });
        Ok(())
    }

    /// Where it is not what the options say.
    pub(crate) fn faults(&self, options: &Options) -> Vec<String> {
        let mut faults = Vec::new();
        let mut check = |what: &str, found: u64, wanted: u64| {
            if found != wanted {
                faults.push(format!(
                    "{}, {what}: {found}, not {wanted}",
                    self.side.name()
                ));
            }
        };
        let lost = options.lost_tasks();
        for load in &self.loads {
            let workers = load.workers;
            for &[answered, timed_out, early] in &load.counts {
                let with = |what| format!("{what} with {workers} workers");
                check(&with("answered"), answered, options.tasks - lost);
                check(&with("timed out"), timed_out, lost);
                check(&with("early"), early, 0);
            }
        }
        let rounds = self.loads.iter().map(|load| load.counts.len() as u64);
        let wanted = options.rounds * options.worker_counts().len() as u64;
        check("rounds", rounds.sum(), wanted);
        check("expired", self.expired, options.tasks * options.rounds);
        faults
    }
}
