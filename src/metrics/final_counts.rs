//! What a driver counts beside its shards, and what is left of it when it has ended.
//!
//! # Ground rules
//!
//! * Counting is free where timers are armed and cancelled. How many entries were ever
//!   put into a wheel, and how many were taken out, is written there *instead* of how
//!   many there are; the rest is written under the shard's lock, when a timer fires, is
//!   reset, or takes a cancelled one's place.
//! * Nothing is counted twice, so that the sums cannot disagree: what was cancelled is
//!   what was taken out and did not fire, or was replaced.
//! * Cancels that wait are carried out before a shard is read, so a timer whose drop has
//!   returned counts as cancelled, and is never counted otherwise later.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::MetricsSnapshot as Snapshot;

/// What is counted in a driver's time in service, and stays for later questions.
pub(crate) struct FinalCounts {
    pub(crate) generation: u32,
    /// How often the driver woke up, and how often nothing was due then.
    turns: AtomicU64,
    idle_turns: AtomicU64,
    /// Set when a shard is closed.
    shards: Box<[OnceLock<Snapshot>]>,
}

impl FinalCounts {
    pub(crate) fn new(generation: u32, shards: usize) -> Self {
        FinalCounts {
            generation,
            turns: AtomicU64::new(0),
            idle_turns: AtomicU64::new(0),
            shards: (0..shards).map(|_| OnceLock::new()).collect(),
        }
    }

    pub(crate) fn count_turn(&self, is_idle: bool) {
        self.turns.fetch_add(1, Ordering::Relaxed);
        self.idle_turns
            .fetch_add(u64::from(is_idle), Ordering::Relaxed);
    }

    pub(crate) fn turns(&self) -> u64 {
        self.turns.load(Ordering::Relaxed)
    }

    pub(crate) fn idle_turns(&self) -> u64 {
        self.idle_turns.load(Ordering::Relaxed)
    }

    /// Called under the shard's lock, which ends the generation: a thread that finds that it has
    /// ended finds the figures.
    pub(crate) fn set(&self, shard: usize, counted: Snapshot) {
        // Set once: a shard is closed once in a generation.
        let _ = self.shards[shard].set(counted.swept());
    }

    pub(crate) fn of_shard(&self, shard: usize) -> Snapshot {
        self.shards[shard].get().cloned().unwrap_or_default()
    }
}
