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
//! exporter, queries and an alert.

use std::future::{pending, poll_fn};
use std::pin::pin;
use std::time::Duration;

use ::metrics::{
    Histogram, Label, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge,
    histogram,
};
use tokio::time::MissedTickBehavior;

use crate::{Handle, Interval, LagHistogram, Metrics, MetricsSnapshot};

/// The name of the histogram of lag in seconds: `wheel_timer_lag_seconds`.
///
/// ```
/// assert_eq!(wheel::ext::metrics::LAG, "wheel_timer_lag_seconds");
/// ```
pub const LAG: &str = "wheel_timer_lag_seconds";

/// The name of the histogram of the lateness that [`Reporter::run`] measures with its own timer:
/// `wheel_probe_lag_seconds`.
///
/// ```
/// assert_eq!(wheel::ext::metrics::PROBE_LAG, "wheel_probe_lag_seconds");
/// ```
pub const PROBE_LAG: &str = "wheel_probe_lag_seconds";

/// How often [`Reporter::run`] measures, unless [`Reporter::probe`] says otherwise. It is a prime
/// number of milliseconds, so that work that blocks once per second is not missed each time.
const PROBE: Duration = Duration::from_millis(97);

/// A counter's name and meaning, and its value in a snapshot.
type Count = (&'static str, &'static str, fn(&MetricsSnapshot) -> u64);

/// The published counters.
#[rustfmt::skip]
const COUNTERS: [Count; 6] = [
    ("wheel_timers_armed_total", "Timers armed", |now| now.armed),
    ("wheel_timers_fired_total", "Timers that fired", |now| now.fired),
    ("wheel_timers_cancelled_total", "Timers dropped while pending", |now| now.cancelled),
    ("wheel_timers_reset_total", "Resets of pending timers", |now| now.reset),
    ("wheel_driver_passes_total", "Expiry passes of the timer driver", |now| now.passes),
    ("wheel_driver_idle_passes_total", "Expiry passes in which nothing was due", |now| now.idle_passes),
];

/// Maximum number of lags that [`Reporter::run`] passes to the recorder before it yields to other
/// tasks. Most recorders store every single lag, which takes some tens of nanoseconds each.
const LAGS_PER_YIELD: usize = 4096;

/// Returns the ends of the buckets of [`LAG`] and [`PROBE_LAG`], in seconds.
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
/// It also measures every 97 ms how late a timer is, because most services cancel nearly all of their
/// timers, and only a timer that fires shows how late it is. [`Reporter::run`] describes this, and
/// [`Reporter::probe`] turns it off.
///
/// [`Reporter`] lists the published names. For a custom driver, use [`report_as`].
///
/// # Panics
///
/// Panics if `every` is zero, outside a Tokio runtime, and in a runtime built without `enable_time`.
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
/// This is the same as `Reporter::new(handle.metrics()).probe(None).label("driver",
/// driver).run(every)`: [`report`] measures the lateness for the whole runtime.
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
    handle: &Handle,
    every: Duration,
) -> impl Future<Output = ()> + Send + use<> {
    let reporter = Reporter::new(handle.metrics()).probe(None);
    reporter.label("driver", driver).run(every)
}

/// Publishes the counts of a driver to the recorder of the `metrics` crate.
///
/// | name | kind | unit | |
/// | --- | --- | --- | --- |
/// | `wheel_timers_pending` | gauge | count | [`MetricsSnapshot::pending`] |
/// | `wheel_timers_armed_total` | counter | count | [`MetricsSnapshot::armed`] |
/// | `wheel_timers_fired_total` | counter | count | [`MetricsSnapshot::fired`] |
/// | `wheel_timers_cancelled_total` | counter | count | [`MetricsSnapshot::cancelled`] |
/// | `wheel_timers_reset_total` | counter | count | [`MetricsSnapshot::reset`] |
/// | `wheel_driver_passes_total` | counter | count | [`MetricsSnapshot::passes`] |
/// | `wheel_driver_idle_passes_total` | counter | count | [`MetricsSnapshot::idle_passes`] |
/// | [`wheel_timer_lag_seconds`](LAG) | histogram | seconds | [`MetricsSnapshot::lag`] |
/// | [`wheel_probe_lag_seconds`](PROBE_LAG) | histogram | seconds | how late the timer of [`run`](Self::run) is |
///
/// Counters are set to the counts since the driver started. So a recorder that is installed late
/// misses nothing, and two reporters of the same driver count nothing twice. Reporters of *different*
/// drivers need different [labels](Self::label); [`report_as`] sets one.
///
/// The first histogram receives one value for every timer that has fired since the previous
/// publication: the mean lag of the timers in the same bucket. Its sum and its count are therefore
/// exact, and so is the count of each bucket if the exporter uses [`lag_buckets`]. Unlike the
/// counters, the histogram counts a timer twice if two reporters publish the same driver.
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
#[derive(Clone, Debug)]
pub struct Reporter {
    metrics: Metrics,
    labels: Vec<Label>,
    probe: Option<Duration>,
    /// The lags that have been published.
    published: LagHistogram,
}

impl Reporter {
    /// Creates a reporter of these metrics, without labels.
    pub fn new(metrics: Metrics) -> Self {
        Reporter {
            metrics,
            labels: Vec::new(),
            probe: Some(PROBE),
            published: LagHistogram::default(),
        }
    }

    /// Adds a label to everything that this reporter publishes.
    #[must_use]
    pub fn label(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.push(Label::new(key.into(), value.into()));
        self
    }

    /// Publishes the current counts.
    ///
    /// Most recorders store every value of a histogram, so this takes time in proportion to the number
    /// of timers that have fired since the previous call. If these are hundreds of thousands, use
    /// [`run`](Self::run), which yields to other tasks in between.
    pub fn publish(&mut self) {
        let (histogram, lags) = self.publish_counts();
        for (mean, timers) in lags {
            histogram.record_many(mean, timers);
        }
    }

    /// Publishes everything except the new lags. Returns these: of each bucket, their mean and their number.
    fn publish_counts(&mut self) -> (Histogram, Vec<(f64, usize)>) {
        let now = self.metrics.snapshot();
        gauge!("wheel_timers_pending", self.labels.clone()).set(now.pending as f64);
        for (name, _, value) in COUNTERS {
            counter!(name, self.labels.clone()).absolute(value(&now));
        }
        let lags = now.lag.since(&self.published).means().collect();
        self.published = now.lag;
        (histogram!(LAG, self.labels.clone()), lags)
    }

    /// Sets how often [`run`](Self::run) measures how late a timer is, or turns this off.
    ///
    /// The default is 97 ms, which is prime, so work that blocks once per second is not missed each
    /// time. Each measurement wakes the runtime, even if it is idle otherwise. `None` turns them
    /// off.
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel::{Duration, ext::metrics::Reporter};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let reporter = Reporter::new(wheel::metrics()).probe(Some(Duration::from_millis(20)));
    /// # let _never_wakes_an_idle_runtime = reporter.clone().probe(None);
    /// tokio::spawn(reporter.run(Duration::from_secs(10)));
    /// # }
    /// ```
    #[must_use]
    pub fn probe(mut self, every: Option<Duration>) -> Self {
        self.probe = every;
        self
    }

    /// Publishes the counts immediately, and then once per interval, forever.
    ///
    /// First it describes the names, as [`describe`] does. The interval is a timer of the current
    /// runtime's default driver, and is included in the counts.
    ///
    /// Every 97 ms it also measures how late a timer is, and records that in [`PROBE_LAG`]: the
    /// time from the timer's deadline until the task that waits for it runs. So a blocked runtime
    /// is seen even if no other timer fires. Deadlines that pass while the runtime is blocked are
    /// recorded, too: [what their share means](crate::docs::metrics#the-probe).
    /// [`probe`](Self::probe) sets another interval, or turns this off.
    ///
    /// # Panics
    ///
    /// Panics if `every` or the probe's interval is zero, outside a Tokio runtime, and in a runtime
    /// built without `enable_time`.
    #[track_caller]
    pub fn run(mut self, every: Duration) -> impl Future<Output = ()> + Send + 'static {
        let mut interval = crate::interval(every);
        interval.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let probe = self.probe.map(crate::interval);
        async move {
            describe();
            let mut probe = pin!(measure(probe, self.labels.clone()));
            let mut publishing = pin!(async {
                loop {
                    interval.tick().await;
                    let (histogram, lags) = self.publish_counts();
                    for (mean, timers) in lags {
                        record_and_yield(&histogram, mean, timers).await;
                    }
                }
            });
            poll_fn(|cx| {
                let _never_ready = probe.as_mut().poll(cx);
                publishing.as_mut().poll(cx)
            })
            .await
        }
    }
}

/// Records how late each tick is when this task sees it. Ticks that are missed while the runtime is
/// blocked follow one after the other, so each of them is recorded.
async fn measure(probe: Option<Interval>, labels: Vec<Label>) {
    let Some(mut probe) = probe else {
        return pending().await;
    };
    let lags = histogram!(PROBE_LAG, labels);
    loop {
        lags.record(probe.tick().await.elapsed());
    }
}

/// Records the lags of a bucket as [`Reporter::publish`] does, but yields to other tasks in between.
async fn record_and_yield(histogram: &Histogram, mean: f64, mut timers: usize) {
    while timers > LAGS_PER_YIELD {
        histogram.record_many(mean, LAGS_PER_YIELD);
        timers -= LAGS_PER_YIELD;
        tokio::task::yield_now().await;
    }
    histogram.record_many(mean, timers);
}

/// Registers descriptions and units of the published names with the recorder.
///
/// [`report`], [`report_as`] and [`Reporter::run`] call this themselves. Call it if you use
/// [`Reporter::publish`].
pub fn describe() {
    describe_gauge!(
        "wheel_timers_pending",
        Unit::Count,
        "Timers that are armed and pending"
    );
    for (name, meaning, _) in COUNTERS {
        describe_counter!(name, Unit::Count, meaning);
    }
    let histograms = [
        (LAG, "How long after its deadline a timer fired"),
        (PROBE_LAG, "How long after its deadline a probe ran"),
    ];
    for (name, meaning) in histograms {
        describe_histogram!(name, Unit::Seconds, meaning);
    }
}
