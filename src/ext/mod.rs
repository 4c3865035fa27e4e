//! Parts for other crates: traits for futures and streams, and adapters for hyper, tower and the
//! crate `metrics`.
//!
//! ```toml
//! [dependencies] # with the features of the table
//! tokio-wheel = { path = "../tokio-wheel", features = ["hyper", "tower"] } # a clone beside this package
//! ```
//!
//! | module | feature | gives |
//! | --- | --- | --- |
//! | here | | [`FutureExt`]: `future.timeout(…)`, as in tokio-util |
//! | [`stream`] | `stream` | [`StreamExt`], [`IntervalStream`](stream::IntervalStream), as in tokio-stream |
//! | [`hyper`] | `hyper` | [`WheelTimer`](hyper::WheelTimer), for hyper's and hyper-util's builders |
//! | [`tower`] | `tower` | layers with limits for [responses](tower::TimeoutLayer) and for [bodies](tower::TimeoutBody), for tower's and axum's stacks |
//! | [`metrics`] | `metrics` | [`report`](metrics::report), which publishes the counts of [`metrics()`](crate::metrics()) |
//!
//! These modules have the names of crates. In the root of this crate they would hide those
//! crates in a module that says `use wheel::*;`.

mod future_ext;
#[cfg(feature = "hyper")]
pub mod hyper;
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
