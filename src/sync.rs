//! Locking, and waiting for a lock, with the [real] primitives or those of the models
//! (`model.rs`).
//!
//! [`Lock`] spins; of its methods only `try_lock` is used. That is right for a shard: a holder has
//! a small constant of work to do, makes no call of the kernel and runs no code of the user's, so
//! that hardly any thread ever waits; and its release is a plain store, half the price of an
//! uncontended `std::sync::Mutex`. A holder may lose its processor all the same. A thread that
//! waits then sleeps, see [`back_off`].

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

/// Locks a mutex. A mutex that a panicking thread left behind is as good as any other here: nothing
/// that can panic runs between two related writes.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for a lock whose holder has a small constant of work to do.
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

/// How often a lock is tried before a timer goes another way: a few times as long as a hold usually
/// lasts.
pub(crate) const TRIES: usize = if cfg!(all(test, loom)) { 1 } else { 16 };

/// Spins before a thread yields: tens of microseconds, as long as a hold lasts in a mass expiry
/// with cold caches.
const SPINS: u32 = 1_000;
/// Yields before a thread sleeps.
const YIELDS: u32 = 8;
const SLEEP: Duration = Duration::from_micros(50);

/// Gives way, after so many tries before.
///
/// Spins suffice while the holder runs. A holder that has lost its processor gets this thread's by a
/// yield; and by a sleep where this thread has real-time priority, beside which a yield runs no
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
