//! What is counted of a runtime's timers, and how to read it.
//!
//! Counting costs nothing where timers are armed and cancelled, and reading
//! takes each shard's lock for a moment: scrape as often as you like.
//!
//! ```
//! use wheel::Duration;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let metrics = wheel::metrics();
//! wheel::sleep(Duration::from_millis(1)).await;
//!
//! let now = metrics.snapshot();
//! println!("{} pending, {} fired", now.pending, now.fired);
//! println!("99 % fired at most {:?} late", now.lag.quantile(0.99));
//! # }
//! ```
//!
//! # How to read them
//!
//! | what is seen | what it says |
//! | --- | --- |
//! | lag mostly below 2 ms | all is well: tokio's clock rings on whole milliseconds |
//! | with [high resolution](crate::Builder::high_resolution), lag mostly below 100 µs | all is well: what is left is the kernel's time to wake a thread, and up to 50 µs in which timers share a ring |
//! | lag of tens of milliseconds and more, again and again | **the runtime is blocked**: see below |
//! | lag high at single times only, with many fired | a mass expiry: thousands of timers were due at once |
//! | `fired` near `registered` | timeouts do expire: a backend is slow, or the timers are not timeouts |
//! | `cancelled` near `registered` | as it should be: the work is done before its timeout |
//! | `pending` grows and does not shrink | requests pile up, or futures are kept that nobody polls |
//! | `cascaded` well above `fired` | timers with distant deadlines that do fire; harmless |
//! | `reset` high, `registered` low | idle timers that are put off again and again: the cheapest use |
//! | idle wake-ups above a few per second | alarms of timers that were cancelled; harmless, and bounded by the timers' rate |
//! | `slab_capacity` well above `pending` | memory that a former peak has left; pages go as they empty |
//! | one shard has most | one thread arms most timers; see [`WheelMetrics::shard`] |
//!
//! # Lag says that a runtime is blocked
//!
//! Timers fire on the thread that drives tokio's time: a worker that has nothing
//! to do. So a timer is late when no worker has been free since its deadline:
//! every one was inside a `poll` that did not return, in computation or in a
//! blocking call. On a current-thread runtime a single such `poll` suffices; on
//! a multi-thread runtime it takes all workers, or the one that drove time
//! before it took up a task and blocked. The timers tell the whole of it: what is late by
//! 80 ms was made so by a `poll` that took about that long.
//!
//! Alert on the share of timers that are later than a bound of yours, say 16 ms over five
//! minutes. The page of [`ext::metrics`](crate::ext::metrics) has the query and the rule for
//! Prometheus. Then look for the task with tokio's own `poll_time_histogram`, or with
//! tokio-console. The largest lag, [`LagHistogram::max`], is since the start, for a glance at a
//! process. It does not go down, so do not alert on it.
//!
//! If only few timers are armed, arm one for the purpose: an [`interval`](crate::interval()) of
//! 10 ms measures a hundred times a second.
//!
//! The lag ends when the driver hands the task to the runtime. How long the task then waits
//! in a run queue is for tokio's metrics to say. A deadline that was rounded up
//! by [`Builder::tick`](crate::Builder::tick) counts as rounded. (With high resolution a tick that
//! divides a millisecond rounds nothing: what waits for the next ring is late by that.)

pub(crate) mod final_counts;
pub(crate) mod lag_histogram;
pub(crate) mod snapshot;
mod wheel_metrics;

pub use self::lag_histogram::LagHistogram;
pub use self::snapshot::Snapshot;
pub use self::wheel_metrics::WheelMetrics;

use crate::handle::Wheel;

/// What is counted of the current runtime's timers.
///
/// Starts the driver if no timer has been made yet: a task is spawned then. The same as
/// `Wheel::current().metrics()`.
///
/// # Panics
///
/// As [`sleep`](crate::sleep): outside a Tokio runtime, and in one built
/// without `enable_time`.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(wheel::metrics().snapshot().pending, 0);
/// # }
/// ```
///
/// # Differences from tokio
///
/// tokio's `RuntimeMetrics` say nothing about timers.
#[track_caller]
pub fn metrics() -> WheelMetrics {
    Wheel::current().metrics()
}
