//! What belongs to other crates: traits for futures and streams, and parts for hyper,
//! tower and the crate `metrics`.
//!
//! | module | feature | gives |
//! | --- | --- | --- |
//! | here | | [`FutureExt`]: `future.timeout(…)`, as in tokio-util |
//! | [`stream`] | `stream` | [`StreamExt`], [`IntervalStream`](stream::IntervalStream), as in tokio-stream |
//! | [`hyper`] | `hyper` | [`WheelTimer`](hyper::WheelTimer), for hyper's and hyper-util's builders |
//! | [`tower`] | `tower` | [`TimeoutLayer`](tower::TimeoutLayer), for tower's and axum's stacks |
//! | [`metrics`] | `metrics` | [`report`](metrics::report), which publishes what is counted |
//!
//! These modules have the names of crates. In the root of this crate they would hide those
//! crates from whoever writes `use wheel::*;`.

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
