//! [`MetricsIntervals`]: the counts since the last look.

use super::WheelMetrics;
use crate::counts::MetricsSnapshot;

/// Iterator over the counts of successive intervals, from [`WheelMetrics::intervals`].
///
/// Endless: [`next`](Iterator::next) returns the counts since the call before, and never
/// `None`. The first interval begins where the iterator is made. Each call takes a
/// [snapshot](WheelMetrics::snapshot).
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
    metrics: WheelMetrics,
    before: MetricsSnapshot,
}

impl MetricsIntervals {
    pub(super) fn new(metrics: WheelMetrics) -> Self {
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
