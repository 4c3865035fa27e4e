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

pub(crate) mod final_counts;
mod handle;
mod intervals;
pub(crate) mod lag_histogram;
pub(crate) mod snapshot;
#[cfg(all(test, not(loom)))]
mod tests;

pub use self::handle::WheelMetrics;
pub use self::intervals::MetricsIntervals;
pub use self::lag_histogram::LagHistogram;
pub use self::snapshot::MetricsSnapshot;

use crate::handle::Wheel;

/// Counts of the current runtime's timers: how many were armed, fired and cancelled, and how
/// late they fired.
///
/// Starts the driver if there is none yet, which spawns a task. The same as
/// `Wheel::current().metrics()`. [How to read the counts](crate::docs::metrics).
///
/// # Panics
///
/// As [`sleep`](crate::sleep): outside a Tokio runtime, and in a runtime built without
/// `enable_time`.
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
/// tokio's `RuntimeMetrics` have no counts of timers.
#[track_caller]
pub fn metrics() -> WheelMetrics {
    Wheel::current().metrics()
}
