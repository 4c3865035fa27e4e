//! [`MetricsIntervals`], the counts between one snapshot and the next.

use super::Metrics;
use crate::metrics::MetricsSnapshot;

/// An iterator over the counts of successive intervals, returned by [`Metrics::intervals`].
///
/// The iterator never ends: each call of [`next`](Iterator::next) takes a
/// [snapshot](Metrics::snapshot), and returns what was counted since the previous call. The first
/// interval begins when the iterator is made.
///
/// # Examples
///
/// ```
/// use wheel::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut intervals = wheel::metrics().intervals();
/// wheel::sleep(Duration::from_millis(1)).await;
/// assert_eq!(intervals.next().map(|first| first.fired), Some(1));
/// assert_eq!(intervals.next().map(|second| second.fired), Some(0));
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "iterators do nothing unless they are advanced"]
pub struct MetricsIntervals {
    metrics: Metrics,
    before: MetricsSnapshot,
}

impl MetricsIntervals {
    pub(super) fn new(metrics: Metrics) -> Self {
        let before = metrics.snapshot();
        MetricsIntervals { metrics, before }
    }
}

impl Iterator for MetricsIntervals {
    type Item = MetricsSnapshot;

    fn next(&mut self) -> Option<MetricsSnapshot> {
        let now = self.metrics.snapshot();
        let passed = now.since(&self.before);
        self.before = now;
        Some(passed)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::MAX, None)
    }
}
