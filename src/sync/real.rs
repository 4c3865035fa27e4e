//! The primitives outside of the models: the standard library's, tokio's, and a lock that spins.

#[cfg(not(all(feature = "high-resolution", target_os = "linux")))]
mod no_timerfd;
#[cfg(all(feature = "high-resolution", target_os = "linux"))]
mod timerfd;

use std::panic::catch_unwind;
use std::pin::pin;
use std::task::{Context, Waker};

pub(crate) use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering},
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

/// Now, by the clock of the runtime whose context this is called in.
#[inline]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Now, by the clock of every runtime that cannot be paused.
#[inline]
pub(crate) fn really_now() -> Instant {
    std::time::Instant::now().into()
}

/// Returns `true` if a task dump traces this poll (`Handle::dump`, `Trace::capture` and `trace_with`, with
/// `tokio_unstable`).
///
/// In a traced poll each of tokio's leaf futures is pending and registers nothing, so this asks the
/// smallest of them. If a scheduler runs this thread, tokio wakes the waker after the dump.
#[inline(always)]
pub(crate) fn is_traced(waker: &Waker) -> bool {
    cfg!(tokio_unstable) && {
        let leaf = pin!(coop::unconstrained(consume_budget()));
        leaf.poll(&mut Context::from_waker(waker)).is_pending()
    }
}

/// Now, by the clock of this runtime, if the runtime is current.
pub(crate) fn now_if_current(runtime: &Handle) -> Option<Instant> {
    let here = Handle::try_current().ok()?;
    (here.id() == runtime.id()).then(now)
}

/// Now, by the clock of this runtime. `None` where this thread cannot enter that runtime: the thread
/// is about to end, or spawns a task of another runtime, for which tokio keeps its current handle
/// borrowed.
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
