//! Counts of a driver. The page `docs::metrics` says how to read them.
//!
//! # Names
//!
//! The word `metrics` alone: `metrics()` gives `WheelMetrics`, as tokio's `Handle::metrics` gives
//! `RuntimeMetrics`, and `ext::metrics` is for the crate of that name. The types stand in the root:
//! a public module `metrics` there would hide the crate `metrics` in a module that says
//! `use wheel::*;` (`tests/api/drop_in.rs`).
//!
//! Public counts are those that a user can act on. Counts of a wheel's inner workings, such as
//! cascades, are private fields of `MetricsSnapshot`, for this crate's tests.

mod handle;
mod intervals;
#[cfg(all(test, not(loom)))]
mod tests;

pub use self::handle::{WheelMetrics, metrics};
pub use self::intervals::MetricsIntervals;
