//! The primitives outside of the loom models: the standard library's, tokio's, and a spin lock.

#[cfg(not(all(feature = "high-resolution", target_os = "linux")))]
mod no_timerfd;
#[cfg(all(feature = "high-resolution", target_os = "linux"))]
mod timerfd;

use std::panic::catch_unwind;
use std::pin::pin;
use std::task::{Context, Waker};

pub(crate) use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
};
pub(crate) use std::thread::yield_now;
pub(crate) use std::thread_local;

use tokio::runtime::Handle;
use tokio::task::{consume_budget, coop};
use tokio::time::Instant;
pub(crate) use tokio::{runtime::worker_index, time};

#[cfg(not(all(feature = "high-resolution", target_os = "linux")))]
pub(crate) use self::no_timerfd::Descriptor;
#[cfg(all(feature = "high-resolution", target_os = "linux"))]
pub(crate) use self::timerfd::Descriptor;

pub(crate) type Lock<T> = spin::mutex::SpinMutex<T>;
pub(crate) type LockGuard<'a, T> = spin::mutex::SpinMutexGuard<'a, T>;

/// Returns the current time by the clock of the current runtime.
#[inline]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Returns the current time by the clock that cannot be paused, which all runtimes share.
#[inline]
pub(crate) fn really_now() -> Instant {
    std::time::Instant::now().into()
}

/// Returns `true` if a task dump traces this poll (`Handle::dump`, `Trace::capture` and `trace_with`,
/// with `tokio_unstable`).
///
/// In a traced poll, each of tokio's leaf futures is pending and registers nothing, so this polls the
/// smallest of them. If the thread runs a scheduler, tokio wakes the waker after the dump.
#[inline(always)]
pub(crate) fn is_traced(waker: &Waker) -> bool {
    cfg!(tokio_unstable) && {
        let leaf = pin!(coop::unconstrained(consume_budget()));
        leaf.poll(&mut Context::from_waker(waker)).is_pending()
    }
}

/// Returns the current time by the clock of this runtime, if it is the current runtime.
pub(crate) fn now_if_current(runtime: &Handle) -> Option<Instant> {
    let here = Handle::try_current().ok()?;
    (here.id() == runtime.id()).then(now)
}

/// Returns the current time by the clock of this runtime, or `None` if this thread cannot enter the
/// runtime. That happens if the thread is about to end, or if it is spawning a task of another runtime,
/// because tokio keeps the current handle borrowed meanwhile.
pub(crate) fn now_in(runtime: &Handle) -> Option<Instant> {
    match Handle::try_current() {
        Ok(here) if here.id() == runtime.id() => Some(now()),
        Err(none) if none.is_thread_local_destroyed() => None,
        _another => {
            let entered = catch_unwind(|| runtime.enter());
            entered.ok().map(|_inside| now())
        }
    }
}

#[cfg(test)]
mod tests;
