//! [`FinalCounts`]: a driver's counts that belong to no shard, and all counts once the driver has shut
//! down.
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
//! | `registered` | inserted + reused |
//! | `fired` | the number of lags recorded, one for each timer that fires |
//! | `cancelled` | removed − fired, + reused, + 1 if there is a cached entry now |
//! | `pending` | inserted − removed, − 1 if there is a cached entry now |
//! | `reset` | its own counter |
//! | `driver_wakeups`, `driver_noops` | their own counters, which are here rather than in a shard |
//!
//! # Ground rules
//!
//! * **Counting adds nothing to arming and cancelling.** A wheel stores *inserted* and *removed* instead
//!   of its number of entries, so it makes the same number of writes. All other counters are written
//!   under the shard's lock, when a timer fires, is reset, or takes over a cached entry.
//! * **Count each event once**, because then the sums cannot disagree. A cancelled timer has no counter
//!   of its own: it was removed without firing, or its entry was reused.
//! * **Apply late cancels before you read a shard**, and before a pass fires anything. Then a timer whose
//!   drop has returned counts as cancelled, unless a pass was running at that time.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::MetricsSnapshot as Snapshot;

/// The counts of one generation of a driver, kept for snapshots after its end.
pub(crate) struct FinalCounts {
    /// Number of times that the driver woke up.
    passes: AtomicU64,
    /// Number of times that the driver woke up and nothing was due.
    idle_passes: AtomicU64,
    /// The final counts of each shard, set when the shard is closed.
    shards: Box<[OnceLock<Snapshot>]>,
}

impl FinalCounts {
    pub(crate) fn new(shards: usize) -> Self {
        FinalCounts {
            passes: AtomicU64::new(0),
            idle_passes: AtomicU64::new(0),
            shards: (0..shards).map(|_| OnceLock::new()).collect(),
        }
    }

    pub(crate) fn count_pass(&self, is_idle: bool) {
        self.passes.fetch_add(1, Ordering::Relaxed);
        self.idle_passes
            .fetch_add(u64::from(is_idle), Ordering::Relaxed);
    }

    pub(crate) fn passes(&self) -> u64 {
        self.passes.load(Ordering::Relaxed)
    }

    pub(crate) fn idle_passes(&self) -> u64 {
        self.idle_passes.load(Ordering::Relaxed)
    }

    /// Sets the final counts of a shard. Call this under the shard's lock when the generation ends, so
    /// that a thread that finds the generation ended finds these counts, too.
    pub(crate) fn set(&self, shard: usize, counted: Snapshot) {
        // This cannot fail, because a shard is closed once per generation.
        let _ = self.shards[shard].set(counted.swept());
    }

    pub(crate) fn of_shard(&self, shard: usize) -> Snapshot {
        self.shards[shard].get().cloned().unwrap_or_default()
    }
}
