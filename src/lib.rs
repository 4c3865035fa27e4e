//! Timers for Tokio without the shared lock: one timing wheel per worker, behind the API of
//! `tokio::time`.
//!
//! `tokio::time` keeps all timers of a runtime behind one lock, which each timeout that has to wait
//! takes twice: to arm its timer, and to cancel it. With tokio-wheel, each worker writes to a
//! [hierarchical timing wheel](timing_wheel) of its own. Of timers that expire together, 192 fire at a
//! time, and the others are deferred, with I/O in between. Programs gain whose tasks [call each other
//! under timeouts](docs::benchmarks), or in which thousands of timeouts can expire together. [Should
//! you switch?](docs::should_you_switch) says how to find out.
//!
//! # Usage
//!
//! The package is called `tokio-wheel`, and its library `wheel`. It is not published yet, so depend on
//! a clone of its repository:
//!
//! ```toml
//! [dependencies]
//! tokio = { version = "1.54", features = ["macros", "rt-multi-thread"] }
//! tokio-wheel = { path = "../tokio-wheel" }
//! ```
//!
//! Then write [`wheel::time`](time) instead of `tokio::time`, which is usually the whole change.
//! [`Elapsed` is not Tokio's](docs::differences#elapsed-is-another-type), and [tests that call
//! `pause`](docs::testing) need the feature `test-util`. Timers in other crates stay with Tokio
//! unless you [patch the dependency tree](docs::whole_tree).
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
//! The first timer, or [`Handle::current`], starts a runtime's *driver*, which keeps the timers and
//! fires them.
//!
//! # Where to find what
//!
//! | if you want to | see |
//! | --- | --- |
//! | wait, or put a timeout on a future | [`sleep()`], [`timeout()`], [`interval()`], and [`FutureExt`](ext::FutureExt) |
//! | keep many values until their deadlines pass | [`DelayQueue`], as in tokio-util |
//! | count timers, and see how late they fire | [`metrics()`] |
//! | change the driver's settings, or run a second driver | [`Builder`], and the [`Handle`] that it returns |
//! | use the timers with streams, hyper, tower, readers and writers | [`ext`] |
//! | use the data structure alone, with a clock of your own | [`TimingWheel`] |
//! | write a first program, or move an existing one | [Getting started](docs::getting_started), [Migrating](docs::migrating) |
//! | solve a common task, or find out why timers are late | [Patterns](docs::patterns), [Recipes](docs::recipes), [Troubleshooting](docs::troubleshooting) |
//! | know what is promised, and what differs from `tokio::time` | [Guarantees](docs::guarantees), [Differences](docs::differences) |
//! | know what it costs, and how it works | [Benchmarks](docs::benchmarks), [Design](docs::design) |
//!
//! [The guide](docs) lists all pages.
//!
//! # Limits
//!
//! * As with Tokio, a timer fires up to 2 ms late (16 ms on Windows), and later if workers block. On
//!   Linux, [high resolution](docs::high_resolution) lowers the median to tens of microseconds.
//! * Runtimes with Tokio's unstable `enable_alt_timer` are [not
//!   supported](docs::compatibility#runtimes). No error says so.
//! * A task that enters another runtime and then blocks on a timer can hang, because the timer may
//!   belong to [the task's own runtime](docs::guarantees#which-runtime-a-timer-belongs-to). Use
//!   [`wheel::Handle::current()`](Handle::current) after `enter`.
//! * [Huge numbers of timers, and deadlines centuries ahead](docs::guarantees#limits).
//!
//! # Features
//!
//! No feature is on by default. `full` turns on all except `test-util`.
//!
//! | feature | enables | turns on in Tokio |
//! | --- | --- | --- |
//! | `high-resolution` | [`Builder::high_resolution`], on Linux | `net` |
//! | `hyper` | [`WheelTimer`](ext::hyper::WheelTimer), for the builders of hyper and hyper-util | |
//! | `metrics` | a [reporter](ext::metrics) that publishes the [counts](docs::metrics) to the `metrics` crate | |
//! | `stream` | [`DelayQueue`] as a `Stream`, tokio-stream's time [methods](ext::StreamExt), and [`IntervalStream`](ext::stream::IntervalStream) | |
//! | `test-util` | `pause`, `resume` and `advance` | `test-util` |
//! | `tower` | [`TimeoutLayer`](ext::tower::TimeoutLayer) for tower and axum | |
//! | `tracing` | Tokio's spans and events for this crate's timers, so tokio-console shows them | `tracing` |
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
pub use self::handle::{Handle, Metrics, metrics};
pub use self::interval::{Interval, interval, interval_at};
pub use self::metrics::{LagHistogram, MetricsSnapshot};
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
