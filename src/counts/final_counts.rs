//! Counts of a driver beside those of its shards, and the counts that stay after the driver has
//! shut down.
//!
//! # How each count is made
//!
//! A shard counts few events, and a snapshot computes the rest. *Inserted* and *removed* are the
//! entries ever put into the shard's wheel, and ever taken out for any reason. *Reused* counts the
//! timers that took over a cached entry: that stays in the wheel, so the cancelled timer was not
//! removed there, and the next was not inserted.
//!
//! | count | from a shard |
//! | --- | --- |
//! | `registered` | inserted + reused |
//! | `fired` | the lags recorded, one for each timer that fires |
//! | `cancelled` | removed − fired, + reused, + 1 if there is a cached entry now |
//! | `pending` | inserted − removed, − 1 if there is a cached entry now |
//! | `reset` | counted as such |
//! | `driver_wakeups`, `driver_noops` | none: counted here, once per expiry pass |
//!
//! # Ground rules
//!
//! * Counting is free when timers are armed and cancelled. The numbers of entries ever put into a
//!   wheel and ever taken out are written there *instead* of the number of entries. The rest is
//!   written under the shard's lock, when a timer fires, is reset, or takes over a cached entry.
//! * No event is counted twice, so the sums cannot disagree: cancelled timers are those taken out
//!   without firing, and those whose entry another timer has taken over.
//! * Late cancels are applied before a shard is read, and before a pass fires anything. So a timer
//!   whose drop has returned counts as cancelled, unless a pass was under way.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::MetricsSnapshot as Snapshot;

/// The counts of a driver from its start to its end, kept for later snapshots.
pub(crate) struct FinalCounts {
    /// How often the driver woke up, and how often nothing was due then.
    passes: AtomicU64,
    idle_passes: AtomicU64,
    /// Set when a shard is closed.
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

    /// Called under the shard's lock, as the generation ends: a thread that finds the generation
    /// ended finds the figures.
    pub(crate) fn set(&self, shard: usize, counted: Snapshot) {
        // Set once: a shard is closed once in a generation.
        let _ = self.shards[shard].set(counted.swept());
    }

    pub(crate) fn of_shard(&self, shard: usize) -> Snapshot {
        self.shards[shard].get().cloned().unwrap_or_default()
    }
}
