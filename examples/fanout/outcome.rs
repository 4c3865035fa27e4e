//! What came of a side: from the process that ran it to the one that compares, as JSON.

use anyhow::{Context, Result};
use hdrhistogram::Histogram;
use serde_json::{Value, json};

use crate::crowd::Crowd;
use crate::expiry::Expiry;
use crate::load::Load;
use crate::options::{Options, Side};

/// Everything about one side.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) name: String,
    /// Of the crowd.
    pub(crate) bytes_per_task: Option<f64>,
    pub(crate) crowd_answered: u64,
    pub(crate) loads: Vec<Throughput>,
    pub(crate) late: Quantiles,
    pub(crate) expired: u64,
    pub(crate) waits: Quantiles,
}

/// The load with so many workers.
#[derive(Clone, Debug)]
pub(crate) struct Throughput {
    pub(crate) workers: u64,
    /// The median of the rounds.
    pub(crate) timeouts_per_second: f64,
    /// Of every round: what was answered, timed out, and was early.
    pub(crate) counts: Vec<[u64; 3]>,
}

/// Nanoseconds at some quantiles, in rising order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Quantiles(pub(crate) Vec<(f64, f64)>);

impl Quantiles {
    /// Where a distribution is looked at: evenly, and ever closer to its end.
    fn of(histogram: &Histogram<u64>) -> Self {
        let even = (0..=99).map(|percent| f64::from(percent) / 100.0);
        let tail = [0.995, 0.999, 0.9995, 0.9999, 0.99999, 1.0];
        let at = |quantile| (quantile, histogram.value_at_quantile(quantile) as f64);
        Quantiles(even.chain(tail).map(at).collect())
    }

    /// At each quantile the median of the rounds: the system takes a processor away now and then.
    fn median(rounds: &[Quantiles]) -> Self {
        let quantiles = rounds[0].0.iter().enumerate();
        let medians = quantiles.map(|(index, &(quantile, _))| {
            let values = rounds.iter().map(|round| round.0[index].1);
            (quantile, median(values.collect()))
        });
        Quantiles(medians.collect())
    }

    pub(crate) fn at(&self, quantile: f64) -> f64 {
        let found = self.0.iter().find(|(at, _)| *at >= quantile);
        found.map_or(0.0, |&(_, nanos)| nanos)
    }
}

impl Outcome {
    pub(crate) fn of_crowd(name: &str, crowd: Crowd) -> Self {
        Outcome {
            name: name.to_owned(),
            bytes_per_task: crowd.bytes_per_task,
            crowd_answered: crowd.answered,
            ..Outcome::default()
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
            timeouts_per_second: median(rates),
            counts: rounds
                .iter()
                .map(|round| [round.answered, round.timed_out, round.early])
                .collect(),
        });
        Ok(())
    }

    /// Adds the expiries of all rounds.
    pub(crate) fn expire(&mut self, rounds: &[Expiry]) {
        self.expired = rounds.iter().map(|round| round.fired).sum();
        let waits: Vec<_> = rounds
            .iter()
            .map(|round| Quantiles::of(&round.waits))
            .collect();
        self.waits = Quantiles::median(&waits);
    }

    /// Where it is not what the options say.
    pub(crate) fn faults(&self, options: &Options) -> Vec<String> {
        let mut faults = Vec::new();
        let mut check = |what: &str, found: u64, wanted: u64| {
            if found != wanted {
                faults.push(format!("{}, {what}: {found}, not {wanted}", self.name));
            }
        };
        check("waiting tasks answered", self.crowd_answered, options.tasks);
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
        if self.is_of(Side::Without) {
            return faults;
        }
        let rounds = self.loads.iter().map(|load| load.counts.len() as u64);
        let wanted = options.rounds * options.worker_counts().len() as u64;
        check("rounds", rounds.sum(), wanted);
        check("expired", self.expired, options.tasks * options.rounds);
        faults
    }

    pub(crate) fn is_of(&self, side: Side) -> bool {
        self.name == side.name()
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "bytes_per_task": self.bytes_per_task,
            "crowd_answered": self.crowd_answered,
            "loads": self.loads.iter().map(Throughput::to_json).collect::<Vec<_>>(),
            "late": self.late.0,
            "expired": self.expired,
            "waits": self.waits.0,
        })
    }

    pub(crate) fn from_json(value: &Value) -> Result<Self> {
        let number = |key: &str| value[key].as_u64().context("a count");
        let loads = value["loads"].as_array().context("loads")?;
        Ok(Outcome {
            name: value["name"].as_str().context("a name")?.to_owned(),
            bytes_per_task: value["bytes_per_task"].as_f64(),
            crowd_answered: number("crowd_answered")?,
            loads: loads
                .iter()
                .map(Throughput::from_json)
                .collect::<Result<_>>()?,
            late: Quantiles(serde_json::from_value(value["late"].clone())?),
            expired: number("expired")?,
            waits: Quantiles(serde_json::from_value(value["waits"].clone())?),
        })
    }
}

impl Throughput {
    fn to_json(&self) -> Value {
        json!({
            "workers": self.workers,
            "timeouts_per_second": self.timeouts_per_second,
            "counts": self.counts,
        })
    }

    fn from_json(value: &Value) -> Result<Self> {
        Ok(Throughput {
            workers: value["workers"].as_u64().context("workers")?,
            timeouts_per_second: value["timeouts_per_second"].as_f64().context("a rate")?,
            counts: serde_json::from_value(value["counts"].clone())?,
        })
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
