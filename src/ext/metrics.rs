//! Publishing the counts to the crate `metrics`, at intervals, by a task of its own. Nothing
//! is emitted where timers are armed.
//!
//! ```toml
//! [dependencies]
//! tokio-wheel = { path = "../tokio-wheel", features = ["metrics"] } # a clone beside this package
//! ```
//!
//! The [page on metrics](crate::docs::metrics#prometheus) has a program with a Prometheus
//! exporter, queries and an alert; the [recipes](crate::docs::recipes#opentelemetry) have a
//! program with OpenTelemetry.

use std::fmt;
use std::time::Duration;

use ::metrics::{
    Histogram, Label, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge,
    histogram,
};
use tokio::time::MissedTickBehavior;

use crate::{LagHistogram, MetricsSnapshot, Wheel, WheelMetrics};

/// The name of the histogram of lags, in seconds: `wheel_timer_lag_seconds`.
///
/// ```
/// assert_eq!(wheel::ext::metrics::LAG, "wheel_timer_lag_seconds");
/// ```
pub const LAG: &str = "wheel_timer_lag_seconds";

/// So many lags are handed to the recorder before [`Reporter::run`] lets other tasks run. Most
/// recorders keep each lag by itself, and take some tens of nanoseconds for each.
const LAGS_AT_ONCE: usize = 4096;

/// The ends of the buckets of [`LAG`], in seconds: those of [`LagHistogram`] without the last
/// bucket, which has no end.
///
/// With these an exporter has the same count in each bucket as the driver.
///
/// ```
/// let ends = wheel::ext::metrics::lag_buckets();
/// assert!(ends.contains(&0.001) && ends.contains(&0.016));
/// ```
#[must_use]
pub fn lag_buckets() -> Vec<f64> {
    LagHistogram::ends().collect()
}

/// Publishes the counts of the current runtime's timers, at once and then at each interval.
/// Spawn this future. `JoinHandle::abort` ends the publishing; a drop of that handle does not.
///
/// See [`Reporter`] for the published names, and [`report_as`] for a driver of your own.
///
/// # Panics
///
/// As [`metrics()`](crate::metrics()): outside a Tokio runtime, and in a runtime built without
/// `enable_time`. When `every` is zero.
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

/// Publishes the counts of a driver of your own under a label `driver`, as [`report`] does.
///
/// Spawn this future beside that of [`report`]: each driver of a runtime has one. The interval is a
/// timer of the current runtime's own driver.
///
/// The same as `Reporter::new(wheel.metrics()).label("driver", driver).run(every)`. Goes on after the
/// driver's end, with the last counts.
///
/// # Panics
///
/// As [`report`].
///
/// # Examples
///
/// ```
/// use wheel::ext::metrics::{report, report_as};
/// use wheel::{Builder, Duration};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), wheel::BuildError> {
/// let idle = Builder::new().tick(Duration::from_millis(100)).build()?;
/// let every = Duration::from_secs(10);
/// tokio::spawn(report(every)); // wheel_timers_pending
/// tokio::spawn(report_as("idle", &idle, every)); // wheel_timers_pending{driver="idle"}
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn report_as(
    driver: &str,
    wheel: &Wheel,
    every: Duration,
) -> impl Future<Output = ()> + Send + use<> {
    let reporter = Reporter::new(wheel.metrics());
    reporter.label("driver", driver).run(every)
}

/// Publishes the counts of a driver to the recorder of the `metrics` crate.
///
/// | name | kind | unit | |
/// | --- | --- | --- | --- |
/// | `wheel_timers_pending` | gauge | count | [`MetricsSnapshot::pending`] |
/// | `wheel_timers_registered_total` | counter | count | [`MetricsSnapshot::registered`] |
/// | `wheel_timers_fired_total` | counter | count | [`MetricsSnapshot::fired`] |
/// | `wheel_timers_cancelled_total` | counter | count | [`MetricsSnapshot::cancelled`] |
/// | `wheel_timers_reset_total` | counter | count | [`MetricsSnapshot::reset`] |
/// | `wheel_driver_wakeups_total` | counter | count | [`MetricsSnapshot::driver_wakeups`] |
/// | `wheel_driver_noops_total` | counter | count | [`MetricsSnapshot::driver_noops`] |
/// | [`wheel_timer_lag_seconds`](LAG) | histogram | seconds | [`MetricsSnapshot::lag`] |
///
/// Counters are set to the counts since the driver started, so a recorder that is installed
/// late misses nothing, and two reporters of the same driver count nothing twice. Reporters of
/// *several* drivers need [labels](Self::label) to be told apart: [`report_as`] has one.
///
/// The histogram gets every timer that has fired since the last time, as the mean lag of its
/// bucket. So its sum and its count are true, and with [`lag_buckets`] the count of each
/// bucket is. Two reporters of the same driver do count these twice.
///
/// # Examples
///
/// Fresh counts at each request for the metrics:
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

/// A number of timers and their mean lag in seconds, for a histogram.
struct Lags {
    histogram: Histogram,
    mean: f64,
    timers: usize,
}

impl Reporter {
    /// A reporter of these metrics, without labels.
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

    /// Publishes each shard by itself, with a label `shard`, to find a hot shard. A driver's
    /// wake-ups have no such label.
    #[must_use]
    pub fn by_shard(mut self) -> Self {
        self.by_shard = true;
        self.published = vec![LagHistogram::new(); self.metrics.num_shards()];
        self
    }

    /// Publishes the present counts.
    ///
    /// Takes time in proportion to the timers that have fired since the last time: most
    /// recorders keep every value of a histogram. Where there are hundreds of thousands,
    /// [`run`](Self::run) lets other tasks run in between.
    pub fn publish(&mut self) {
        for lags in self.publish_counts() {
            lags.histogram.record_many(lags.mean, lags.timers);
        }
    }

    /// Publishes all but the new lags, which are returned.
    fn publish_counts(&mut self) -> Vec<Lags> {
        let labels = self.labels.clone();
        let all = self.metrics.snapshot();
        counter!("wheel_driver_wakeups_total", labels.clone()).absolute(all.driver_wakeups);
        counter!("wheel_driver_noops_total", labels.clone()).absolute(all.driver_noops);
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

    fn publish_one(&mut self, index: usize, now: MetricsSnapshot, labels: Vec<Label>) -> Vec<Lags> {
        gauge!("wheel_timers_pending", labels.clone()).set(now.pending as f64);
        counter!("wheel_timers_registered_total", labels.clone()).absolute(now.registered);
        counter!("wheel_timers_fired_total", labels.clone()).absolute(now.fired);
        counter!("wheel_timers_cancelled_total", labels.clone()).absolute(now.cancelled);
        counter!("wheel_timers_reset_total", labels.clone()).absolute(now.reset);
        let histogram = histogram!(LAG, labels);
        let new = now.lag.since(&self.published[index]);
        let lags = new.means().map(|(mean, timers)| Lags {
            histogram: histogram.clone(),
            mean,
            timers: usize::try_from(timers).unwrap_or(usize::MAX),
        });
        let lags = lags.collect();
        self.published[index] = now.lag;
        lags
    }

    /// Describes the names, then publishes the counts at once and at each interval, for ever.
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

/// Gives the recorder the meanings of the names, and their units.
///
/// [`report`] and [`Reporter::run`] do this themselves.
pub fn describe() {
    describe_gauge!(
        "wheel_timers_pending",
        Unit::Count,
        "Timers that are registered and pending"
    );
    let counters = [
        ("wheel_timers_registered_total", "Timers registered"),
        ("wheel_timers_fired_total", "Timers that fired"),
        (
            "wheel_timers_cancelled_total",
            "Timers dropped while pending",
        ),
        ("wheel_timers_reset_total", "Resets of pending timers"),
        ("wheel_driver_wakeups_total", "Wake-ups of the timer driver"),
        (
            "wheel_driver_noops_total",
            "Wake-ups in which nothing was due",
        ),
    ];
    for (name, meaning) in counters {
        describe_counter!(name, Unit::Count, meaning);
    }
    describe_histogram!(
        LAG,
        Unit::Seconds,
        "How long after its deadline a timer fired"
    );
}
