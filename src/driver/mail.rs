//! A shard's mailbox: cancels that found the shard busy.
//!
//! # Ground rules
//!
//! * The lock is held for a moment only, and never while a shard's is waited
//!   for; no foreign code runs under it, for letters own nothing.
//! * `any` is stored under the lock, and is read without it: by whoever holds the
//!   shard, who may miss a letter posted at that moment. `shard.rs` says who
//!   sees to it then.

use std::mem;

use super::clock::Tick;
use super::sync::{AtomicBool, Mutex, Ordering, lock};

/// Letters collected in one hold of a shard.
pub(super) const LETTERS: usize = if cfg!(all(test, loom)) { 1 } else { 16 };

/// A timer to be cancelled.
#[derive(Clone, Copy)]
pub(super) struct Letter {
    pub(super) key: u32,
    pub(super) when: Tick,
    pub(super) generation: u32,
}

pub(super) struct Mailbox {
    any: AtomicBool,
    letters: Mutex<Vec<Letter>>,
}

impl Mailbox {
    pub(super) fn new() -> Self {
        Mailbox {
            any: AtomicBool::new(false),
            letters: Mutex::new(Vec::new()),
        }
    }

    pub(super) fn has_any(&self) -> bool {
        self.any.load(Ordering::SeqCst)
    }

    /// A cheaper look, which may be out of date.
    #[inline]
    pub(super) fn may_have_any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    pub(super) fn post(&self, letter: Letter) {
        let mut letters = lock(&self.letters);
        letters.push(letter);
        self.any.store(true, Ordering::SeqCst);
    }

    /// Takes up to `most` letters out.
    pub(super) fn collect(&self, most: usize) -> Vec<Letter> {
        let mut letters = lock(&self.letters);
        let rest = letters.len().saturating_sub(most);
        let collected = letters.split_off(rest);
        self.any.store(rest > 0, Ordering::SeqCst);
        collected
    }

    pub(super) fn clear(&self) {
        let mut letters = lock(&self.letters);
        drop(mem::take(&mut *letters));
        self.any.store(false, Ordering::SeqCst);
    }
}
