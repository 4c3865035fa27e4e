//! What the driver runs on: locks, atomics and tokio. In the models and in the simulation they are
//! those of `model.rs`, and otherwise the [real] ones.
//!
//! # Ground rules
//!
//! * **While you hold a [`Lock`], do a small constant amount of work**, make no system call of your
//!   own and run no user code, because it is a spin lock: other threads may be spinning. (Memory
//!   may be allocated.) It is a spin lock because one store releases it, which costs half as much
//!   as an uncontended `std::sync::Mutex`.
//! * **Call only `try_lock` on a [`Lock`]**, because its holder may lose its processor, and `lock` would
//!   spin until the holder runs again. To wait, call [`wait`], which spins, then yields, then sleeps
//!   (see [`back_off`]).
//! * A [`Mutex`] may be held for longer, even while tokio's own locks are taken.

#[cfg(all(test, any(loom, shuttle)))]
mod model;
#[cfg(not(all(test, any(loom, shuttle))))]
mod real;

use std::pin::pin;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};
use std::thread::sleep;
use std::time::Duration;

use tokio::task::coop;

#[cfg(all(test, any(loom, shuttle)))]
pub(crate) use self::model::*;
#[cfg(not(all(test, any(loom, shuttle))))]
pub(crate) use self::real::*;

/// Locks a mutex, and ignores poisoning: nothing that can panic runs between two related writes, so
/// what a panicking thread leaves behind is consistent.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Acquires a lock, and waits for it if necessary.
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

/// Polls a future of tokio's outside of the task's budget. If the budget were exhausted, the future would
/// be pending without being registered.
#[inline]
pub(crate) fn poll_without_budget<F: Future>(future: F, waker: &Waker) -> Poll<F::Output> {
    let future = pin!(coop::unconstrained(future));
    future.poll(&mut Context::from_waker(waker))
}

/// Number of spins before a thread yields. They take tens of microseconds, as long as a critical
/// section lasts in a mass expiry with cold caches.
const SPINS: u32 = 1_000;
/// Number of yields before a thread sleeps. Arming counts [`TRIES`] at a time, so it yields eight times.
const YIELDS: u32 = 128;
const SLEEP: Duration = Duration::from_micros(50);

/// Waits a little for the holder of a lock, after `tries` failed tries: spins, yields or sleeps.
///
/// Spinning is enough while the holder runs. If the holder has lost its processor, a yield lets it run
/// on this thread's. If this thread has real-time priority, only a sleep does that, because its yields
/// let no thread of ordinary priority run.
pub(crate) fn back_off(tries: u32) {
    if cfg!(all(test, any(loom, shuttle))) {
        return yield_now();
    }
    match tries.checked_sub(SPINS) {
        None => std::hint::spin_loop(),
        Some(0..YIELDS) => yield_now(),
        Some(_) => sleep(SLEEP),
    }
}
