//! The checker's mutex, under the names of the spin lock that shards use.
//!
//! loom never switches threads between the last step under a mutex and its release. In this lock,
//! acquiring and releasing are separate steps, as they are in a spin lock. This lets loom explore, for
//! example, that a cancel is queued after the holder of the shard's lock has read the length of the
//! list for the last time.

use std::ops::{Deref, DerefMut};
use std::sync::TryLockError;

use super::{AtomicUsize, Mutex, MutexGuard, Ordering};

pub(crate) struct Lock<T> {
    mutex: Mutex<T>,
    /// Written to as `Relaxed`, so that these steps order nothing else.
    steps: AtomicUsize,
}

impl<T> Lock<T> {
    pub(crate) fn new(value: T) -> Self {
        Lock {
            mutex: Mutex::new(value),
            steps: AtomicUsize::new(0),
        }
    }

    pub(crate) fn try_lock(&self) -> Option<LockGuard<'_, T>> {
        self.steps.fetch_add(1, Ordering::Relaxed);
        let guard = match self.mutex.try_lock() {
            Ok(guard) => guard,
            // A spin lock knows no poison.
            Err(TryLockError::Poisoned(guard)) => guard.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        Some(LockGuard {
            guard,
            steps: &self.steps,
        })
    }
}

pub(crate) struct LockGuard<'a, T> {
    guard: MutexGuard<'a, T>,
    steps: &'a AtomicUsize,
}

impl<T> Drop for LockGuard<'_, T> {
    fn drop(&mut self) {
        self.steps.fetch_add(1, Ordering::Relaxed);
    }
}

impl<T> Deref for LockGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for LockGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}
