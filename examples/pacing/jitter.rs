//! By how much the time between two packets differs from the period.

use std::time::{Duration, Instant};

/// The differences, in rising order.
pub(crate) struct Jitter(Vec<Duration>);

impl Jitter {
    pub(crate) fn of(arrivals: &[Instant], period: Duration) -> Self {
        let pairs = arrivals.windows(2);
        let differences = pairs.map(|pair| (pair[1] - pair[0]).abs_diff(period));
        let mut differences: Vec<_> = differences.collect();
        differences.sort();
        Jitter(differences)
    }

    pub(crate) fn quantile(&self, quantile: f64) -> Duration {
        let below = (quantile * self.0.len() as f64) as usize;
        self.0.get(below).copied().unwrap_or_default()
    }

    /// In percent.
    pub(crate) fn share_between(&self, from: Duration, to: Duration) -> f64 {
        let below = |edge| self.0.partition_point(|&difference| difference < edge);
        let between = below(to) - below(from);
        between as f64 * 100.0 / self.0.len().max(1) as f64
    }
}
