//! What a driver counts, and how late its timers fire. The handle to these counts is in `metrics`.

mod final_counts;
mod lag_histogram;
mod snapshot;

pub(crate) use self::final_counts::FinalCounts;
pub use self::lag_histogram::LagHistogram;
pub use self::snapshot::MetricsSnapshot;
