//! Publishing to the `metrics` crate: what was counted, at intervals, by a task
//! of its own. Nothing is emitted where timers are armed.

use std::fmt;
use std::time::Duration;

use ::metrics::{
    Label, SharedString, Unit, counter, describe_counter, describe_gauge, describe_histogram,
    gauge, histogram,
};
use tokio::time::MissedTickBehavior;

use crate::stats::{LagHistogram, Snapshot, WheelMetrics};

/// Lags handed to a histogram at a time. Most recorders keep each by itself
/// until they are asked, and a service may fire a million in an interval.
const MOST_LAGS: u64 = 4096;

/// Publishes what is counted of the current runtime's timers, at once and then
/// at each interval. Spawn it; it ends when it is dropped.
///
/// See [`Reporter`] for what is published, and for drivers of one's own.
///
/// # Panics
///
/// As [`metrics()`](crate::metrics()): outside a Tokio runtime, and in one built
/// without `enable_time`. When `every` is zero.
///
/// # Examples
///
/// ```
/// use wheel::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// // Any recorder of the `metrics` crate, say `metrics_exporter_prometheus`.
/// let recorder = metrics_util::debugging::DebuggingRecorder::new();
/// recorder.install().unwrap();
/// tokio::spawn(wheel::ext::metrics::report(Duration::from_secs(10)));
/// # }
/// ```
#[track_caller]
pub fn report(every: Duration) -> impl Future<Output = ()> + Send + 'static {
    Reporter::new(crate::metrics()).run(every)
}

/// Publishes what a driver counts to the recorder of the `metrics` crate.
///
/// | name | kind | unit | |
/// | --- | --- | --- | --- |
/// | `wheel_active_timers` | gauge | count | [`Snapshot::pending`] |
/// | `wheel_timers_registered` | counter | count | [`Snapshot::registered`] |
/// | `wheel_timers_fired` | counter | count | [`Snapshot::fired`] |
/// | `wheel_timers_cancelled` | counter | count | [`Snapshot::cancelled`] |
/// | `wheel_timers_reset` | counter | count | [`Snapshot::reset`] |
/// | `wheel_timers_cascaded` | counter | count | [`Snapshot::cascaded`] |
/// | `wheel_driver_wakeups` | counter | count | [`WheelMetrics::driver_wakeup_count`] |
/// | `wheel_driver_noops` | counter | count | [`WheelMetrics::driver_noop_count`] |
/// | `wheel_timer_lag` | histogram | microseconds | [`Snapshot::lag`] |
/// | `wheel_slab_capacity` | gauge | count | [`Snapshot::slab_capacity`] |
///
/// Counters are set to what was counted since the driver started, so a recorder
/// that is installed late misses nothing, and two reporters of one driver count
/// nothing twice. Those of *several* drivers need [labels](Self::label) to be
/// told apart.
///
/// The histogram gets what has fired since the last time, each lag as the end of
/// its bucket of [`LagHistogram`], or the largest lag so far if that is less: no
/// quantile is understated. If more than 4096 timers have fired, it gets about
/// so many, in the same proportions.
///
/// # Examples
///
/// Where a request for the metrics asks for fresh ones:
///
/// ```
/// use wheel::ext::metrics::Reporter;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// wheel::ext::metrics::describe();
/// let mut reporter = Reporter::new(wheel::metrics()).label("runtime", "io");
/// reporter.publish();
/// # }
/// ```
#[derive(Clone)]
pub struct Reporter {
    metrics: WheelMetrics,
    labels: Vec<Label>,
    by_shard: bool,
    /// The lags that were published: of all shards together, or of each.
    published: Vec<LagHistogram>,
}

impl Reporter {
    /// A reporter of what is counted there, without labels.
    pub fn new(metrics: WheelMetrics) -> Self {
        Reporter {
            metrics,
            labels: Vec::new(),
            by_shard: false,
            published: vec![LagHistogram::new()],
        }
    }

    /// Puts a label on everything that is published.
    #[must_use]
    pub fn label(mut self, key: impl Into<SharedString>, value: impl Into<SharedString>) -> Self {
        self.labels.push(Label::new(key, value));
        self
    }

    /// Publishes each shard by itself, with a label `shard`, to find one that is
    /// hot. A driver's wake-ups have no such label.
    #[must_use]
    pub fn by_shard(mut self) -> Self {
        self.by_shard = true;
        self.published = vec![LagHistogram::new(); self.metrics.num_shards()];
        self
    }

    /// Publishes what is counted now.
    pub fn publish(&mut self) {
        let labels = self.labels.clone();
        counter!("wheel_driver_wakeups", labels.clone())
            .absolute(self.metrics.driver_wakeup_count());
        counter!("wheel_driver_noops", labels.clone()).absolute(self.metrics.driver_noop_count());
        if !self.by_shard {
            let now = self.metrics.snapshot();
            return self.publish_one(0, &now, labels);
        }
        for index in 0..self.metrics.num_shards() {
            let shard = Label::new("shard", index.to_string());
            let labels = labels.iter().cloned().chain([shard]).collect();
            self.publish_one(index, &self.metrics.shard(index), labels);
        }
    }

    fn publish_one(&mut self, index: usize, now: &Snapshot, labels: Vec<Label>) {
        gauge!("wheel_active_timers", labels.clone()).set(now.pending as f64);
        counter!("wheel_timers_registered", labels.clone()).absolute(now.registered);
        counter!("wheel_timers_fired", labels.clone()).absolute(now.fired);
        counter!("wheel_timers_cancelled", labels.clone()).absolute(now.cancelled);
        counter!("wheel_timers_reset", labels.clone()).absolute(now.reset);
        counter!("wheel_timers_cascaded", labels.clone()).absolute(now.cascaded);
        gauge!("wheel_slab_capacity", labels.clone()).set(now.slab_capacity as f64);
        let lag = histogram!("wheel_timer_lag", labels);
        for (micros, timers) in since(&self.published[index], &now.lag) {
            lag.record_many(micros, timers);
        }
        self.published[index] = now.lag.clone();
    }

    /// Describes what is published, then publishes it at once and at each
    /// interval, for ever.
    ///
    /// The interval is a timer of the current runtime, and counted as such.
    ///
    /// # Panics
    ///
    /// When `every` is zero, and outside a Tokio runtime with timers.
    #[track_caller]
    pub fn run(mut self, every: Duration) -> impl Future<Output = ()> + Send + 'static {
        let mut interval = crate::interval(every);
        interval.set_missed_tick_behavior(MissedTickBehavior::Skip);
        async move {
            describe();
            loop {
                interval.tick().await;
                self.publish();
            }
        }
    }
}

impl fmt::Debug for Reporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reporter")
            .field("metrics", &self.metrics)
            .field("labels", &self.labels)
            .field("by_shard", &self.by_shard)
            .finish_non_exhaustive()
    }
}

/// Tells the recorder what the names mean, and their units.
///
/// [`report`] and [`Reporter::run`] do this themselves.
pub fn describe() {
    describe_gauge!(
        "wheel_active_timers",
        Unit::Count,
        "Timers that are registered and pending"
    );
    let counters = [
        ("wheel_timers_registered", "Timers registered"),
        ("wheel_timers_fired", "Timers that fired"),
        ("wheel_timers_cancelled", "Timers dropped while pending"),
        ("wheel_timers_reset", "Resets of pending timers"),
        ("wheel_timers_cascaded", "Moves of timers to a lower level"),
        ("wheel_driver_wakeups", "Wake-ups of the timer driver"),
        ("wheel_driver_noops", "Wake-ups in which nothing was due"),
    ];
    for (name, meaning) in counters {
        describe_counter!(name, Unit::Count, meaning);
    }
    describe_histogram!(
        "wheel_timer_lag",
        Unit::Microseconds,
        "How long after its deadline a timer fired"
    );
    describe_gauge!(
        "wheel_slab_capacity",
        Unit::Count,
        "Timers that there is memory for"
    );
}

/// The lags in microseconds that have come since, and how many of each.
fn since(before: &LagHistogram, now: &LagHistogram) -> impl Iterator<Item = (f64, usize)> {
    let all = now.count() - before.count();
    let one_in = all.div_ceil(MOST_LAGS).max(1);
    let max = now.max();
    let buckets = now.buckets().zip(before.buckets());
    buckets.filter_map(move |((range, now), (_, before))| {
        let lag = range.end.min(max);
        let timers = usize::try_from((now - before).div_ceil(one_in));
        // No more than `MOST_LAGS` and one of each bucket.
        let timers = timers.unwrap_or(usize::MAX);
        (timers > 0).then_some((lag.as_secs_f64() * 1e6, timers))
    })
}
