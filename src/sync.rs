//! Locking, and waiting for a lock, with the [real] primitives or those of the models
//! (`model.rs`).
//!
//! # Ground rules
//!
//! * **[`Lock`] is a spin lock, so its holder does a small constant amount of work**, makes no
//!   system call and runs no user code. Then hardly any thread ever waits. A spin lock is used
//!   because its release is one store, which costs half as much as an uncontended
//!   `std::sync::Mutex`.
//! * Call only its `try_lock`, because a holder may lose its processor. A thread that has to wait
//!   does so in [`wait`], which yields and then sleeps; see [`back_off`].
//! * [`Mutex`] may be held for longer, and while tokio's own locks are taken.

#[cfg(all(test, loom))]
mod model;
#[cfg(not(all(test, loom)))]
mod real;

use std::sync::PoisonError;
use std::thread::sleep;
use std::time::Duration;

#[cfg(all(test, loom))]
pub(crate) use self::model::*;
#[cfg(not(all(test, loom)))]
pub(crate) use self::real::*;

/// Locks a mutex. One that a panicking thread has left behind is as good as any other here, because
/// nothing that can panic runs between two related writes.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for a lock whose holder has a small constant amount of work to do.
#[inline]
pub(crate) fn wait<T>(lock: &Lock<T>) -> LockGuard<'_, T> {
    lock.try_lock().unwrap_or_else(|| wait_on(lock))
}

#[cold]
fn wait_on<T>(lock: &Lock<T>) -> LockGuard<'_, T> {
    let mut tries = 0;
    loop {
        if let Some(guard) = lock.try_lock() {
            return guard;
        }
        back_off(tries);
        tries += 1;
    }
}

/// How often arming tries a shard's lock before it tries other shards: for a few times as long as a
/// critical section usually lasts.
pub(crate) const TRIES: usize = if cfg!(all(test, loom)) { 1 } else { 16 };

/// Spins before a thread yields: tens of microseconds, as long as a critical section lasts in a
/// mass expiry with cold caches.
const SPINS: u32 = 1_000;
/// Yields before a thread sleeps.
const YIELDS: u32 = 8;
const SLEEP: Duration = Duration::from_micros(50);

/// Gives way to the holder of a lock, after `tries` tries.
///
/// Spinning is enough while the holder runs. If it has lost its processor, a yield gives it this
/// thread's. If this thread has real-time priority, only a sleep does, because a yield then runs no
/// ordinary thread.
pub(crate) fn back_off(tries: u32) {
    if cfg!(all(test, loom)) {
        return yield_now();
    }
    match tries.checked_sub(SPINS) {
        None => std::hint::spin_loop(),
        Some(0..YIELDS) => yield_now(),
        Some(_) => sleep(SLEEP),
    }
}
