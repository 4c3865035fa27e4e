//! Handles to a driver's counts. The page `docs::metrics` describes how to read the counts.
//!
//! # Names
//!
//! `metrics()` returns `WheelMetrics`, as tokio's `Handle::metrics` returns `RuntimeMetrics`. The module
//! `ext::metrics` is for the crate of that name. The types are in the crate's root, because a public
//! module `metrics` there would hide the crate `metrics` in every module that contains `use wheel::*;`
//! (`tests/api/drop_in.rs`).
//!
//! A count is public if a user can act on it. Counts of a wheel's internals, such as cascades, are private
//! fields of `MetricsSnapshot`, for this crate's tests.

mod handle;
mod intervals;
#[cfg(all(test, not(loom)))]
mod tests;

pub use self::handle::{WheelMetrics, metrics};
pub use self::intervals::MetricsIntervals;
