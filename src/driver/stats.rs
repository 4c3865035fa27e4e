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

use tokio::runtime;

use crate::metrics::Snapshot;

/// How often a driver woke up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Turns {
    pub(crate) all: u64,
    /// Those in which nothing was due.
    pub(crate) idle: u64,
}

/// The last figures of a driver's time in service, for whoever asks later.
pub(crate) struct FinalCounts {
    generation: u32,
    /// The runtime that was served.
    pub(crate) runtime: Option<runtime::Id>,
    shards: Box<[OnceLock<Snapshot>]>,
    pub(crate) turns: OnceLock<Turns>,
}

impl FinalCounts {
    pub(super) fn new(generation: u32, runtime: Option<runtime::Id>, shards: usize) -> Self {
        FinalCounts {
            generation,
            runtime,
            shards: (0..shards).map(|_| OnceLock::new()).collect(),
            turns: OnceLock::new(),
        }
    }

    pub(super) fn is_of(&self, generation: u32) -> bool {
        self.generation == generation
    }

    /// Called under the shard's lock, which ends the generation: whoever finds that it has
    /// ended finds the figures.
    pub(super) fn set(&self, shard: usize, counted: Snapshot) {
        // Set once: a shard is closed once in a generation.
        let _ = self.shards[shard].set(counted.swept());
    }

    pub(crate) fn of_shard(&self, shard: usize) -> Snapshot {
        self.shards[shard].get().cloned().unwrap_or_default()
    }
}
