//! What a driver counts, and how late its timers fire. The handle to these counts is in
//! `handle/metrics.rs`, above the driver. The page `docs::metrics` describes how to read them.
//!
//! # Names
//!
//! `metrics()` returns `Metrics`, as Tokio's `Handle::metrics` returns `RuntimeMetrics`. The module
//! `ext::metrics` is for the crate of that name. The types are in the crate's root, because a public
//! module `metrics` there would hide the crate `metrics` in every module that contains `use wheel::*;`
//! (`tests/api/drop_in.rs`).
//!
//! A count is public if a user can act on it. Counts of a wheel's internals, such as cascades, are private
//! fields of `MetricsSnapshot`, for this crate's tests.
//!
//! # How each count is made
//!
//! A shard counts few events, and a snapshot computes the rest. *Inserted* is the number of entries ever
//! put into the shard's wheel, and *removed* the number ever taken out, for any reason. *Reused* is the
//! number of timers that took over a cached entry. Such an entry stays in the wheel, so the cancelled
//! timer does not count as removed, and the next one does not count as inserted.
//!
//! | count | computed from |
//! | --- | --- |
//! | `armed` | inserted + reused |
//! | `fired` | the number of lags recorded, one for each timer that fires |
//! | `cancelled` | removed − fired + reused; a snapshot first takes the cached entry out |
//! | `pending` | inserted − removed |
//! | `reset` | its own counter |
//! | `passes`, `idle_passes` | their own counters, which are in the driver rather than in a shard |
//!
//! # Ground rules
//!
//! * **Counting adds at most one write to arming, and none to cancelling.** A wheel stores *inserted* and
//!   *removed* instead of its number of entries, so it makes the same number of writes. *Reused* is written
//!   when a timer takes over a cached entry. The other counters are written when a timer fires or is reset.
//!   All of them are written under the shard's lock.
//! * **Count each event once**, because then the sums cannot disagree. A cancelled timer has no counter
//!   of its own: it was removed without firing, or its entry was reused.
//! * **Apply late cancels before you read a shard**, and before a pass fires anything. Then a timer whose
//!   drop has returned counts as cancelled, unless a pass was running at that time.

pub(crate) mod lag_histogram;
pub(crate) mod snapshot;

pub use self::lag_histogram::LagHistogram;
pub use self::snapshot::MetricsSnapshot;
