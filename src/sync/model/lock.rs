//! loom's mutex under the names of the lock that shards use.
//!
//! loom lets no thread in between the last step under a mutex and its release. Here
//! both taking and releasing are steps of their own, as they are in a spin lock: a
//! cancel can be queued after its shard's holder has read the length of the list for the last time.

use std::ops::{Deref, DerefMut};

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::sync::{Mutex, MutexGuard};

pub(crate) struct Lock<T> {
    mutex: Mutex<T>,
    /// Relaxed, so that nothing else is ordered.
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
        let guard = self.mutex.try_lock().ok()?;
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
