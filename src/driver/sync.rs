//! The one place that chooses between the real synchronisation primitives and loom's.
//!
//! [`Lock`] offers `try_lock` and nothing else: who may wait for a shard, and
//! how, is decided in `shard.rs`, not by a lock.

#[cfg(not(loom))]
pub(crate) use std::sync::{
    Mutex, MutexGuard, OnceLock,
    atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering},
};

#[cfg(loom)]
pub(crate) use loom::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering},
};
#[cfg(loom)]
pub(crate) use std::sync::OnceLock;

/// A lock whose unlock is a plain store: half the price of an uncontended
/// `std::sync::Mutex`, whose unlock is a second read-modify-write.
#[cfg(not(loom))]
pub(crate) type Lock<T> = spin::mutex::SpinMutex<T>;
#[cfg(not(loom))]
pub(crate) type LockGuard<'a, T> = spin::mutex::SpinMutexGuard<'a, T>;

#[cfg(loom)]
pub(crate) type LockGuard<'a, T> = loom::sync::MutexGuard<'a, T>;
/// Loom's mutex behind the same two names.
#[cfg(loom)]
#[derive(Debug)]
pub(crate) struct Lock<T>(loom::sync::Mutex<T>);

#[cfg(loom)]
impl<T> Lock<T> {
    pub(crate) fn new(value: T) -> Self {
        Lock(loom::sync::Mutex::new(value))
    }

    pub(crate) fn try_lock(&self) -> Option<LockGuard<'_, T>> {
        self.0.try_lock().ok()
    }
}

/// Locks a mutex; one that a panicking thread left behind is as good as any
/// other here, because nothing that can panic runs between two related writes.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    match mutex.lock() {
        Ok(guard) => guard,
        Err(poisoned) => poisoned.into_inner(),
    }
}

/// Gives way for a moment; called in a loop with the number of tries so far.
///
/// A holder has at most a small constant of work to do, so a few spins usually
/// suffice; after that it has probably lost its processor, and needs ours.
pub(crate) fn relax(tries: usize) {
    #[cfg(loom)]
    {
        let _ = tries;
        loom::thread::yield_now();
    }
    #[cfg(not(loom))]
    if tries % 64 == 63 {
        std::thread::yield_now();
    } else {
        std::hint::spin_loop();
    }
}
