//! Publishing a driver's counts to the crate `metrics`.
//!
//! A task publishes the counts at intervals. Arming, firing and cancelling a timer emit nothing, so
//! they cost the same with and without this module.
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

/// The name of the histogram of lag in seconds: `wheel_timer_lag_seconds`.
///
/// ```
/// assert_eq!(wheel::ext::metrics::LAG, "wheel_timer_lag_seconds");
/// ```
pub const LAG: &str = "wheel_timer_lag_seconds";

/// Maximum number of lags that [`Reporter::run`] passes to the recorder before it yields to other
/// tasks. Most recorders store every single lag, which takes some tens of nanoseconds each.
const LAGS_PER_YIELD: usize = 4096;

/// Returns the ends of the buckets of [`LAG`], in seconds.
///
/// They are the ends of the buckets of [`LagHistogram`], except the last bucket, which has no end. If
/// you configure an exporter with these, each of its buckets has the same count as the driver's.
///
/// # Examples
///
/// ```
/// let ends = wheel::ext::metrics::lag_buckets();
/// assert!(ends.contains(&0.001) && ends.contains(&0.016));
/// ```
#[must_use]
pub fn lag_buckets() -> Vec<f64> {
    LagHistogram::ends().collect()
}

/// Publishes the counts of the current runtime's timers immediately, and then once per interval.
///
/// Spawn the returned future as a task. It never completes: end it with `JoinHandle::abort`. Dropping
/// the `JoinHandle` does not end it.
///
/// [`Reporter`] lists the published names. For a custom driver, use [`report_as`].
///
/// # Panics
///
/// Panics if `every` is zero, and under the same conditions as [`metrics()`](crate::metrics()): outside
/// a Tokio runtime, and in a runtime built without `enable_time`.
///
/// # Examples
///
/// ```
/// use wheel::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// // Any recorder of the `metrics` crate, for example `metrics_exporter_prometheus`.
/// let recorder = metrics_util::debugging::DebuggingRecorder::new();
/// # let published = recorder.snapshotter();
/// recorder.install().unwrap();
/// tokio::spawn(wheel::ext::metrics::report(Duration::from_secs(10)));
/// # while published.snapshot().into_vec().is_empty() {
/// #     wheel::sleep(Duration::from_millis(1)).await;
/// # }
/// # }
/// ```
#[track_caller]
pub fn report(every: Duration) -> impl Future<Output = ()> + Send + 'static {
    Reporter::new(crate::metrics()).run(every)
}

/// Publishes the counts of a custom driver, with a label `driver`.
///
/// Apart from the label, this behaves like [`report`]. Spawn one such future for each custom driver,
/// in addition to the future of [`report`]. The interval is a timer of the current runtime's default
/// driver. After the custom driver has shut down, its last counts are still published.
///
/// This is the same as `Reporter::new(wheel.metrics()).label("driver", driver).run(every)`.
///
/// # Panics
///
/// Panics if `every` is zero, outside a Tokio runtime, and in a runtime built without `enable_time`.
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
/// Counters are set to the counts since the driver started. So a recorder that is installed late
/// misses nothing, and two reporters of the same driver count nothing twice. Reporters of *different*
/// drivers need different [labels](Self::label); [`report_as`] sets one.
///
/// The histogram receives one value for every timer that has fired since the previous publication: the
/// mean lag of the timers in the same bucket. Its sum and its count are therefore exact, and so is the
/// count of each bucket if the exporter uses [`lag_buckets`]. Unlike the counters, the histogram counts
/// a timer twice if two reporters publish the same driver.
///
/// # Examples
///
/// A reporter that an HTTP handler calls, to publish current counts for each scrape:
///
/// ```
/// use wheel::ext::metrics::Reporter;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let recorder = metrics_util::debugging::DebuggingRecorder::new();
/// # let published = recorder.snapshotter();
/// # recorder.install().unwrap();
/// wheel::ext::metrics::describe();
/// let mut reporter = Reporter::new(wheel::metrics()).label("runtime", "io");
/// reporter.publish();
/// # assert!(!published.snapshot().into_vec().is_empty());
/// # }
/// ```
#[derive(Clone)]
pub struct Reporter {
    metrics: WheelMetrics,
    labels: Vec<Label>,
    by_shard: bool,
    /// The lags that have been published, of all shards together or of each shard.
    published: Vec<LagHistogram>,
}

/// The timers of one bucket that a histogram has yet to record, and their mean lag in seconds.
struct Lags {
    histogram: Histogram,
    mean: f64,
    timers: usize,
}

impl Reporter {
    /// Creates a reporter of these metrics, without labels.
    pub fn new(metrics: WheelMetrics) -> Self {
        Reporter {
            metrics,
            labels: Vec::new(),
            by_shard: false,
            published: vec![LagHistogram::new()],
        }
    }

    /// Adds a label to everything that this reporter publishes.
    #[must_use]
    pub fn label(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.push(Label::new(key.into(), value.into()));
        self
    }

    /// Publishes each shard separately, with a label `shard`.
    ///
    /// This shows whether one shard has more timers than the others. The wake-ups belong to the whole
    /// driver, so they are published without this label.
    #[must_use]
    pub fn by_shard(mut self) -> Self {
        self.by_shard = true;
        self.published = vec![LagHistogram::new(); self.metrics.num_shards()];
        self
    }

    /// Publishes the current counts.
    ///
    /// Most recorders store every value of a histogram, so this takes time in proportion to the number
    /// of timers that have fired since the previous call. If these are hundreds of thousands, use
    /// [`run`](Self::run), which yields to other tasks in between.
    pub fn publish(&mut self) {
        for lags in self.publish_counts() {
            lags.histogram.record_many(lags.mean, lags.timers);
        }
    }

    /// Publishes everything except the new lags, and returns those.
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

    /// Publishes the counts immediately, and then once per interval, forever.
    ///
    /// First it describes the names, as [`describe`] does. The interval is a timer of the current
    /// runtime's default driver, and is included in the counts.
    ///
    /// # Panics
    ///
    /// Panics if `every` is zero, outside a Tokio runtime, and in a runtime built without `enable_time`.
    #[track_caller]
    pub fn run(mut self, every: Duration) -> impl Future<Output = ()> + Send + 'static {
        let mut interval = crate::interval(every);
        interval.set_missed_tick_behavior(MissedTickBehavior::Skip);
        async move {
            describe();
            loop {
                interval.tick().await;
                for lags in self.publish_counts() {
                    record_and_yield(lags).await;
                }
            }
        }
    }
}

/// Records lags as [`Reporter::publish`] does, but yields to other tasks in between.
async fn record_and_yield(mut lags: Lags) {
    while lags.timers > LAGS_PER_YIELD {
        lags.histogram.record_many(lags.mean, LAGS_PER_YIELD);
        lags.timers -= LAGS_PER_YIELD;
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

/// Registers descriptions and units of the published names with the recorder.
///
/// [`report`], [`report_as`] and [`Reporter::run`] call this themselves. Call it if you use
/// [`Reporter::publish`].
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
