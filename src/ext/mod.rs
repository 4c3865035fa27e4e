//! Extensions and adapters: traits for futures and streams, idle timeouts for I/O, and adapters for
//! hyper, tower and the crate `metrics`.
//!
//! ```toml
//! [dependencies] # with the features that the table names
//! tokio-wheel = { path = "../tokio-wheel", features = ["hyper", "tower"] } # a clone beside this package
//! ```
//!
//! | module | feature | contents |
//! | --- | --- | --- |
//! | this one | | [`FutureExt`]: `future.timeout(…)`, as in tokio-util, and [`timeout_if_pending`](FutureExt::timeout_if_pending), for futures that are mostly ready |
//! | [`io`] | | [idle timeouts](io::TimeoutStream) for readers and writers, as in tokio-io-timeout |
//! | [`stream`] | `stream` | [`StreamExt`], [`IntervalStream`](stream::IntervalStream), as in tokio-stream |
//! | [`hyper`] | `hyper` | [`WheelTimer`](hyper::WheelTimer), for hyper's and hyper-util's builders |
//! | [`tower`] | `tower` | [`TimeoutLayer`](tower::TimeoutLayer), for tower and axum |
//! | [`metrics`] | `metrics` | [`report`](metrics::report), which publishes the counts of [`metrics()`](crate::metrics()), and [`report_as`](metrics::report_as) for other drivers |
//!
//! Some of these modules have the names of crates. They are not in the root of this crate, because
//! there they would hide those crates in every module that contains `use wheel::*;`.

mod future_ext;
#[cfg(feature = "hyper")]
pub mod hyper;
pub mod io;
#[cfg(feature = "metrics")]
pub mod metrics;
#[cfg(feature = "stream")]
pub mod stream;
#[cfg(feature = "tower")]
pub mod tower;

pub use self::future_ext::FutureExt;
#[cfg(feature = "stream")]
#[doc(inline)]
pub use self::stream::StreamExt;
