//! Wakers of timers that are done.
//!
//! A task that saw its `Sleep` ready and resets it is woken at the new deadline,
//! though it may not poll the `Sleep` before: tokio's keeps the waker of the last
//! poll, and hand-written futures count on it. A `Sleep` has no room for a waker,
//! so a shard keeps it, until the `Sleep` is reset or dropped: that of the thread
//! which polled it, and which the `Sleep` belongs to from then on.
//!
//! # Ground rules
//!
//! * The lock is taken alone, and no waker is dropped under it.
//! * A key is good for one generation of the shard. `clear` is called after a
//!   generation has ended, so whoever finds it serving, under the lock, finds
//!   the waker too.

use std::mem;
use std::task::Waker;

use super::foreign;
use super::sync::{Lock, wait};
use crate::wheel::pages::Pages;

type Wakers = Pages<Waker, 8>;

pub(super) struct Kept {
    wakers: Lock<Wakers>,
}

impl Kept {
    pub(super) fn new() -> Self {
        Kept {
            wakers: Lock::new(Wakers::new()),
        }
    }

    /// Keeps a waker while the shard `serves` its timer, and says under which key.
    pub(super) fn keep(&self, waker: Waker, serves: impl FnOnce() -> bool) -> Option<u32> {
        let mut wakers = wait(&self.wakers);
        if !serves() {
            // The waker is dropped with the arguments: after the guard.
            return None;
        }
        Some(wakers.insert_with(|_| waker))
    }

    /// Hands out the waker kept under this key while the shard `serves` its timer.
    pub(super) fn release(&self, key: u32, serves: impl FnOnce() -> bool) -> Option<Waker> {
        let mut wakers = wait(&self.wakers);
        if !serves() {
            return None;
        }
        let waker = wakers.remove(key);
        let garbage = wakers.take_garbage();
        drop(wakers);
        drop(garbage);
        Some(waker)
    }

    /// Drops all: the generation has ended.
    pub(super) fn clear(&self) {
        let wakers = mem::replace(&mut *wait(&self.wakers), Wakers::new());
        foreign::discard(wakers.into_values());
    }
}
