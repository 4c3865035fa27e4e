//! The one place that chooses between the real thing and what the models in
//! `loom/` run on: loom's synchronisation primitives, and a tokio whose interval
//! rings when a model says so.
//!
//! [`Lock`] offers `try_lock` and nothing else: who may wait for a shard, and
//! how, is decided in `shard.rs`, not by a lock.

use tokio::runtime::{EnterGuard, Handle};

#[cfg(not(all(test, loom)))]
pub(crate) use std::sync::{
    Mutex, MutexGuard, OnceLock,
    atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering},
};

#[cfg(all(test, loom))]
pub(crate) use loom::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering},
};
#[cfg(all(test, loom))]
pub(crate) use std::sync::OnceLock;

#[cfg(not(all(test, loom)))]
pub(crate) use super::descriptor::Descriptor;
#[cfg(all(test, loom))]
pub(crate) use super::loom::fake::{
    self as time, Descriptor, now, now as really_now, now_in, thread_local, worker_index,
};
#[cfg(not(all(test, loom)))]
pub(crate) use std::thread_local;
#[cfg(not(all(test, loom)))]
pub(crate) use tokio::{runtime::worker_index, time};

/// A lock whose unlock is a plain store: half the price of an uncontended
/// `std::sync::Mutex`, whose unlock is a second read-modify-write.
#[cfg(not(all(test, loom)))]
pub(crate) type Lock<T> = spin::mutex::SpinMutex<T>;
#[cfg(not(all(test, loom)))]
pub(crate) type LockGuard<'a, T> = spin::mutex::SpinMutexGuard<'a, T>;

#[cfg(all(test, loom))]
pub(crate) use super::loom::lock::{Lock, LockGuard};

/// Now, by the clock of the runtime whose context this is called in.
#[cfg(not(all(test, loom)))]
#[inline]
pub(crate) fn now() -> tokio::time::Instant {
    tokio::time::Instant::now()
}

/// Now, by the clock of every runtime that cannot be paused.
#[cfg(not(all(test, loom)))]
#[inline]
pub(crate) fn really_now() -> tokio::time::Instant {
    std::time::Instant::now().into()
}

/// Now, by the clock of this runtime.
#[cfg(not(all(test, loom)))]
pub(crate) fn now_in(runtime: &Handle) -> Option<tokio::time::Instant> {
    let _inside = enter(runtime)?;
    Some(now())
}

/// `None` on a thread that is about to end, and can enter no runtime.
pub(crate) fn enter(runtime: &Handle) -> Option<EnterGuard<'_>> {
    let here = Handle::try_current();
    let ending = here.is_err_and(|none| none.is_thread_local_destroyed());
    (!ending).then(|| runtime.enter())
}

/// Locks a mutex; one that a panicking thread left behind is as good as any
/// other here, because nothing that can panic runs between two related writes.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    match mutex.lock() {
        Ok(guard) => guard,
        Err(poisoned) => poisoned.into_inner(),
    }
}

/// Waits for a lock that nobody holds for long.
pub(crate) fn wait<T>(lock: &Lock<T>) -> LockGuard<'_, T> {
    let mut tries = 0;
    loop {
        if let Some(guard) = lock.try_lock() {
            return guard;
        }
        relax(tries);
        tries += 1;
    }
}

/// Gives way for a moment; called in a loop with the number of tries so far.
///
/// A holder has at most a small constant of work to do, so a few spins usually
/// suffice; after that it has probably lost its processor, and needs ours.
pub(crate) fn relax(tries: usize) {
    #[cfg(all(test, loom))]
    {
        let _ = tries;
        loom::thread::yield_now();
    }
    #[cfg(not(all(test, loom)))]
    if tries % 64 == 63 {
        std::thread::yield_now();
    } else {
        std::hint::spin_loop();
    }
}
