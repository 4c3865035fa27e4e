//! The primitives outside of the loom models: the standard library's, tokio's, and a spin lock.

#[cfg_attr(
    not(all(feature = "high-resolution", target_os = "linux")),
    path = "real/no_timerfd.rs"
)]
mod timerfd;

use std::panic::catch_unwind;
use std::task::Waker;
use std::time::Duration;

pub(crate) use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
};
pub(crate) use std::thread::yield_now;
pub(crate) use std::thread_local;

use tokio::runtime::Handle;
use tokio::task::consume_budget;
use tokio::time::Instant;
pub(crate) use tokio::{runtime, time};

pub(crate) use self::timerfd::Descriptor;
use super::poll_without_budget;

/// The length of tokio's tick, a millisecond, in nanoseconds.
pub(crate) const MILLISECOND: u64 = 1_000_000;
/// Maximum number of entries that one critical section of a shard fires, or of late cancels that it
/// applies.
pub(crate) const BATCH: usize = 16;
/// Number of due timers that an expiry pass fires, and of deferred ones. Three quarters of the run queue
/// of a worker of Tokio's, which leaves room for the tasks that I/O wakes.
pub(crate) const PASS: usize = 192;
/// Maximum number of due timers that a pass fires or defers.
pub(crate) const MANY: usize = 4_096;
/// How often arming tries a shard's lock before it tries other shards. This takes a few times as long
/// as a usual critical section.
pub(crate) const TRIES: usize = 16;
/// A timerfd is set only for deadlines at most this far ahead.
pub(crate) const TIMERFD_RANGE: Duration = Duration::from_secs(1);

pub(crate) type Lock<T> = spin::mutex::SpinMutex<T>;
pub(crate) type LockGuard<'a, T> = spin::mutex::SpinMutexGuard<'a, T>;

/// A static that is initialized when it is first used.
macro_rules! lazy {
    (static ref $name:ident: $type:ty = $value:expr;) => {
        static $name: std::sync::LazyLock<$type> = std::sync::LazyLock::new(|| $value);
    };
}
pub(crate) use lazy as lazy_static;

std::thread_local! {
    static NUMBER: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed)
    };
}

/// Returns the number of this thread, which spreads threads that are no workers over the shards.
pub(crate) fn thread_number() -> usize {
    NUMBER.with(|number| *number)
}

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
    cfg!(tokio_unstable) && poll_without_budget(consume_budget(), waker).is_pending()
}

/// Returns the current time by the clock of this runtime, if it is the current runtime.
pub(crate) fn now_if_current(runtime: runtime::Id) -> Option<Instant> {
    let here = Handle::try_current().ok()?;
    (here.id() == runtime).then(now)
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
