//! Chooses between the real primitives and those of the models in `loom/`: loom's synchronisation,
//! and a tokio whose interval rings when a model says so.
//!
//! [`Lock`] spins; of its methods only `try_lock` is used. That is right for a shard: a holder has
//! a small constant of work to do, makes no call of the kernel and runs no code of the user's, so
//! that hardly any thread ever waits; and its release is a plain store, half the price of an
//! uncontended `std::sync::Mutex`. A holder may lose its processor all the same. A thread that
//! waits then sleeps, see [`back_off`].

use std::sync::PoisonError;
use std::time::Duration;

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
use loom::thread::yield_now;
#[cfg(all(test, loom))]
pub(crate) use std::sync::OnceLock;
use std::thread::sleep;
#[cfg(not(all(test, loom)))]
use std::thread::yield_now;

#[cfg(all(test, loom))]
pub(crate) use super::loom::fake::{
    self as time, now, now as really_now, now_in, thread_local, worker_index,
};
#[cfg(not(all(test, loom)))]
pub(crate) use std::thread_local;
#[cfg(not(all(test, loom)))]
pub(crate) use tokio::{runtime::worker_index, time};

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

/// Spins before a thread yields: a few times as long as a hold usually lasts.
const SPINS: u32 = 64;
/// Yields before a thread sleeps.
const YIELDS: u32 = 4;

/// Gives way for a moment that grows with the number of tries so far.
///
/// A few spins suffice while the holder runs. A holder that has lost its processor gets this
/// thread's by a yield; and by a sleep where this thread has real-time priority, beside which
/// a yield runs no ordinary thread.
pub(crate) fn back_off(tries: u32) {
    if cfg!(all(test, loom)) {
        return yield_now();
    }
    match tries.checked_sub(SPINS) {
        None => std::hint::spin_loop(),
        Some(0..YIELDS) => yield_now(),
        Some(late) => sleep(LEAST_SLEEP * (1 << (late - YIELDS).min(5))),
    }
}

/// Sleeps are this long, and up to 32 times as long.
const LEAST_SLEEP: Duration = Duration::from_micros(30);
