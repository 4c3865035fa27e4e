//! Publishing to the crate `metrics`: what was counted, at intervals, by a task of its own.
//! Nothing is emitted where timers are armed.
//!
//! # Prometheus
//!
//! Lags are a histogram if the exporter is told its buckets. Otherwise they are a summary, from
//! which no alert can be computed:
//!
//! ```
//! use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
//! use wheel::Duration;
//! use wheel::ext::metrics::{LAG, lag_buckets, report};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let exporter = PrometheusBuilder::new()
//!     .set_buckets_for_metric(Matcher::Full(LAG.to_owned()), &lag_buckets())?
//!     .install_recorder()?;
//! tokio::spawn(report(Duration::from_secs(10)));
//! # tokio::task::yield_now().await;
//! # tokio::task::yield_now().await;
//! let page = exporter.render(); // what `/metrics` answers
//! # assert!(page.contains("wheel_timers_fired"), "{page}");
//! # Ok(())
//! # }
//! ```
//!
//! The share of timers that were more than 16 ms late in the last five minutes, and the lag
//! that 99 % did not exceed:
//!
//! ```text
//! 1 - sum(rate(wheel_timer_lag_seconds_bucket{le="0.016"}[5m]))
//!       / sum(rate(wheel_timer_lag_seconds_count[5m]))
//!
//! histogram_quantile(0.99, sum by (le) (rate(wheel_timer_lag_seconds_bucket[5m])))
//! ```
//!
//! An alert rule and a Grafana dashboard with these are in the folder `examples/prometheus`
//! of this crate. `.ci/run prometheus` evaluates both against what an exporter printed.

use std::fmt;
use std::time::Duration;

use ::metrics::{
    Histogram, Label, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge,
    histogram,
};
use tokio::time::MissedTickBehavior;

use crate::stats::{LagHistogram, Snapshot, WheelMetrics};

/// The name of the histogram of lags, in seconds: `wheel_timer_lag_seconds`.
///
/// ```
/// assert_eq!(wheel::ext::metrics::LAG, "wheel_timer_lag_seconds");
/// ```
pub const LAG: &str = "wheel_timer_lag_seconds";

/// So many lags are handed to the recorder before [`Reporter::run`] lets other tasks run. Most
/// recorders keep each by itself, and take some tens of nanoseconds for it.
const LAGS_AT_ONCE: usize = 4096;

/// Where the buckets of [`LAG`] end, in seconds: those of [`LagHistogram`], but for the last
/// one, which has no end.
///
/// With these an exporter counts in each bucket what was counted there.
///
/// ```
/// let ends = wheel::ext::metrics::lag_buckets();
/// assert!(ends.contains(&0.001) && ends.contains(&0.016));
/// ```
#[must_use]
pub fn lag_buckets() -> Vec<f64> {
    LagHistogram::ends().collect()
}

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
/// | `wheel_driver_wakeups` | counter | count | [`Snapshot::driver_wakeups`] |
/// | `wheel_driver_noops` | counter | count | [`Snapshot::driver_noops`] |
/// | [`wheel_timer_lag_seconds`](LAG) | histogram | seconds | [`Snapshot::lag`] |
/// | `wheel_slab_capacity` | gauge | count | [`Snapshot::slab_capacity`] |
///
/// Counters are set to what was counted since the driver started, so a recorder
/// that is installed late misses nothing, and two reporters of one driver count
/// nothing twice. Those of *several* drivers need [labels](Self::label) to be
/// told apart.
///
/// The histogram gets every timer that has fired since the last time, as the mean
/// lag of its bucket. So its sum and its count are true, and with
/// [`lag_buckets`] the count of each bucket is. Two reporters of one driver do count
/// these twice.
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

/// So many timers that were so late, in seconds on average, for one of the histograms.
struct Lags {
    histogram: Histogram,
    mean: f64,
    timers: usize,
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
    pub fn label(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.push(Label::new(key.into(), value.into()));
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
    ///
    /// Takes time in proportion to the timers that have fired since the last time: most
    /// recorders keep every value of a histogram. Where there are hundreds of thousands,
    /// [`run`](Self::run) lets other tasks run in between.
    pub fn publish(&mut self) {
        for lags in self.publish_counts() {
            lags.histogram.record_many(lags.mean, lags.timers);
        }
    }

    /// Publishes all but the lags that have come, and says which these are.
    fn publish_counts(&mut self) -> Vec<Lags> {
        let labels = self.labels.clone();
        let all = self.metrics.snapshot();
        counter!("wheel_driver_wakeups", labels.clone()).absolute(all.driver_wakeups);
        counter!("wheel_driver_noops", labels.clone()).absolute(all.driver_noops);
        if !self.by_shard {
            return self.publish_one(0, all, labels);
        }
        let shards = 0..self.metrics.num_shards();
        let shards = shards.map(|index| {
            let shard = Label::new("shard", index.to_string());
            let labels = labels.iter().cloned().chain([shard]).collect();
            self.publish_one(index, self.metrics.shard(index), labels)
        });
        shards.collect::<Vec<_>>().into_iter().flatten().collect()
    }

    fn publish_one(&mut self, index: usize, now: Snapshot, labels: Vec<Label>) -> Vec<Lags> {
        gauge!("wheel_active_timers", labels.clone()).set(now.pending as f64);
        counter!("wheel_timers_registered", labels.clone()).absolute(now.registered);
        counter!("wheel_timers_fired", labels.clone()).absolute(now.fired);
        counter!("wheel_timers_cancelled", labels.clone()).absolute(now.cancelled);
        counter!("wheel_timers_reset", labels.clone()).absolute(now.reset);
        counter!("wheel_timers_cascaded", labels.clone()).absolute(now.cascaded);
        gauge!("wheel_slab_capacity", labels.clone()).set(now.slab_capacity as f64);
        let histogram = histogram!(LAG, labels);
        let new = now.lag.since(&self.published[index]);
        let lags = new.map(|(mean, timers)| Lags {
            histogram: histogram.clone(),
            mean,
            timers: usize::try_from(timers).unwrap_or(usize::MAX),
        });
        let lags = lags.collect();
        self.published[index] = now.lag;
        lags
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
                for lags in self.publish_counts() {
                    record_in_turns(lags).await;
                }
            }
        }
    }
}

/// Hands over lags as [`Reporter::publish`] does, and lets other tasks run now and then.
async fn record_in_turns(mut lags: Lags) {
    while lags.timers > LAGS_AT_ONCE {
        lags.histogram.record_many(lags.mean, LAGS_AT_ONCE);
        lags.timers -= LAGS_AT_ONCE;
        tokio::task::yield_now().await;
    }
    lags.histogram.record_many(lags.mean, lags.timers);
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
        LAG,
        Unit::Seconds,
        "How long after its deadline a timer fired"
    );
    describe_gauge!(
        "wheel_slab_capacity",
        Unit::Count,
        "Timers that there is memory for"
    );
}
