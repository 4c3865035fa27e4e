//! By how much the time between two packets differs from the period.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

/// Where one bar ends and the next one begins, in microseconds. The last bar is all the rest.
const EDGES: [u64; 8] = [10, 25, 50, 100, 250, 500, 1_000, 2_500];

/// The differences, in nanoseconds.
pub(crate) struct Jitter(Histogram<u64>);

impl Jitter {
    pub(crate) fn of(arrivals: &[Instant], period: Duration) -> Self {
        let mut differences = Histogram::new(3).expect("three digits are allowed");
        for pair in arrivals.windows(2) {
            let difference = (pair[1] - pair[0]).abs_diff(period);
            let nanos = u64::try_from(difference.as_nanos()).unwrap_or(u64::MAX);
            differences.record(nanos).expect("it grows");
        }
        Jitter(differences)
    }

    pub(crate) fn quantile(&self, quantile: f64) -> Duration {
        Duration::from_nanos(self.0.value_at_quantile(quantile))
    }

    /// What a bar is for, and its share of all packets.
    pub(crate) fn shares(&self) -> Vec<(String, f64)> {
        let all = self.0.len().max(1) as f64;
        let mut below = 0;
        let mut shares: Vec<_> = EDGES
            .iter()
            .map(|edge| {
                let until = self.0.count_between(0, edge * 1_000 - 1);
                let share = (until - below) as f64 / all;
                below = until;
                (format!("< {edge} µs"), share)
            })
            .collect();
        shares.push(("more".into(), (self.0.len() - below) as f64 / all));
        shares
    }
}
