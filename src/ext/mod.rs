//! Parts for other crates: traits for futures and streams, idle timeouts for I/O, and adapters for
//! hyper, tower and the crate `metrics`.
//!
//! ```toml
//! [dependencies] # with the features of the table
//! tokio-wheel = { path = "../tokio-wheel", features = ["hyper", "tower"] } # a clone beside this package
//! ```
//!
//! | module | feature | gives |
//! | --- | --- | --- |
//! | here | | [`FutureExt`]: `future.timeout(…)`, as in tokio-util |
//! | [`io`] | | [idle timeouts](io::TimeoutStream) for readers and writers, as in tokio-io-timeout |
//! | [`stream`] | `stream` | [`StreamExt`], [`IntervalStream`](stream::IntervalStream), as in tokio-stream |
//! | [`hyper`] | `hyper` | [`WheelTimer`](hyper::WheelTimer), for hyper's and hyper-util's builders |
//! | [`tower`] | `tower` | layers with limits for [responses](tower::TimeoutLayer), for the [frames](tower::TimeoutBody) of bodies and for [whole bodies](tower::DeadlineBody), for tower's and axum's stacks |
//! | [`metrics`] | `metrics` | [`report`](metrics::report), which publishes the counts of [`metrics()`](crate::metrics()), and [`report_as`](metrics::report_as) for other drivers |
//!
//! These modules have the names of crates. In the root of this crate they would hide those
//! crates in a module that says `use wheel::*;`.

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
