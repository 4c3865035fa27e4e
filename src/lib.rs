//! Timers for Tokio services that arm a timeout for every request, connection or packet, and cancel
//! nearly all of them before they fire.
//!
//! `tokio::time` keeps all of a runtime's timers behind one lock, which a timeout takes when it is
//! armed (first polled) and again when it is cancelled (dropped). tokio-wheel gives each worker its
//! own [hierarchical timing wheel](timing_wheel), behind the same API. A timer that is cancelled
//! before it fires, as most are, usually writes only memory of its own worker.
//!
//! The package is called `tokio-wheel`, and its library `wheel`. It is not published yet, so depend on
//! a clone of its repository:
//!
//! ```toml
//! [dependencies]
//! tokio-wheel = { path = "../tokio-wheel" }
//! ```
//!
//! Then write [`wheel::time`](time) instead of `tokio::time`, which is usually the whole change:
//!
//! ```
//! use wheel::time::{self, Duration}; // was: use tokio::time::{self, Duration};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! time::sleep(Duration::from_millis(1)).await;
//!
//! let answer = time::timeout(Duration::from_secs(1), async { 42 }).await;
//! assert_eq!(answer, Ok(42));
//!
//! let mut interval = time::interval(Duration::from_millis(5));
//! interval.tick().await;
//! # }
//! ```
//!
//! New code can use the same items from the crate's root: [`wheel::sleep`](sleep()),
//! [`wheel::timeout`](timeout()), [`wheel::interval`](interval()).
//!
//! # Where to find what
//!
//! * [The guide](docs): [getting started](docs::getting_started), [whether to
//!   switch](docs::should_you_switch), [migrating](docs::migrating), [patterns](docs::patterns),
//!   [recipes](docs::recipes) for other crates, [testing with paused time](docs::testing),
//!   [tuning](docs::tuning), [high resolution](docs::high_resolution), [patching the whole dependency tree](docs::whole_tree), and
//!   [troubleshooting](docs::troubleshooting).
//! * [Guarantees](docs::guarantees): what the crate promises, and what is unspecified.
//!   [Differences](docs::differences): each difference from `tokio::time`.
//! * [Design](docs::design): how the timers work. The [glossary](docs::glossary) has the terms, and
//!   [benchmarks](docs::benchmarks) what they cost.
//! * [`DelayQueue`]: values that are returned when their deadlines have passed, as in tokio-util.
//! * [`Handle`] and [`Builder`]: custom drivers, and the settings of a driver.
//! * [`metrics()`]: how many timers are pending, cancelled and fired, and how late they fire.
//! * [`TimingWheel`]: the data structure alone, for programs that measure time in their own way.
//! * [`ext`]: extensions for futures, streams, hyper, tower and the `metrics` crate, and idle
//!   timeouts for readers and writers.
//!
//! # Limits
//!
//! * A runtime's clock may advance by at most 500 years. Deadlines beyond that do not elapse.
//! * A shard, which is a worker's part of the timers, can hold fewer than 2³² timers.
//! * On a worker thread that has entered another runtime, a timer usually belongs to the [worker's
//!   runtime](docs::guarantees#which-runtime-a-timer-belongs-to), rather than to the one that was entered.
//!
//! # Features
//!
//! No feature is on by default. `full` turns on all except `test-util`.
//!
//! * `high-resolution`: [`Builder::high_resolution`], on Linux. Turns on Tokio's `net`.
//! * `hyper`: [`WheelTimer`](ext::hyper::WheelTimer), for the builders of hyper and hyper-util.
//! * `metrics`: a [reporter](ext::metrics) that publishes the [counts](docs::metrics) to the
//!   `metrics` crate.
//! * `stream`: [`DelayQueue`] as a `Stream`, and tokio-stream's time [methods](ext::StreamExt) and
//!   [`IntervalStream`](ext::stream::IntervalStream).
//! * `test-util`: `pause`, `resume` and `advance`. Turns on Tokio's own `test-util`.
//! * `tower`: [`TimeoutLayer`](ext::tower::TimeoutLayer) and timeouts for bodies, for tower's and
//!   axum's stacks.
//! * `tracing`: the spans and events that Tokio's timers emit, so that tokio-console shows these
//!   timers. Turns on Tokio's own `tracing`.
#![cfg_attr(docsrs, feature(doc_cfg))]
// The guide describes all features, and is compiled only with all of them.
#![cfg_attr(
    not(feature = "full"),
    allow(rustdoc::broken_intra_doc_links, reason = "links to what is off")
)]
#![forbid(unsafe_code)]
// `clippy.toml` lists what is denied here, and why.
#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod build_error;
mod builder;
mod clock;
pub mod delay_queue;
#[cfg(all(any(doc, doctest), feature = "full"))]
pub mod docs;
mod driver;
pub mod error;
pub mod ext;
mod handle;
mod interval;
mod metrics;
mod platform;
mod settings;
mod sleep;
mod spans;
pub mod time;
mod timeout;
pub mod timing_wheel;
pub use self::build_error::BuildError;
pub use self::builder::Builder;
#[doc(inline)]
pub use self::delay_queue::DelayQueue;
pub use self::handle::Handle;
pub use self::interval::{Interval, interval, interval_at};
pub use self::metrics::{LagHistogram, Metrics, MetricsIntervals, MetricsSnapshot, metrics};
pub use self::sleep::{Sleep, sleep, sleep_until};
pub use self::timeout::{Timeout, timeout, timeout_at};
pub use self::timing_wheel::TimingWheel;

#[doc(no_inline)]
pub use std::time::Duration;
#[doc(no_inline)]
pub use tokio::time::{Instant, MissedTickBehavior};
#[cfg(feature = "test-util")]
#[doc(no_inline)]
pub use tokio::time::{advance, pause, resume};

/// Compiles the README's examples, which use all features.
#[cfg(all(doctest, feature = "full"))]
#[doc = include_str!("../README.md")]
struct Readme;
