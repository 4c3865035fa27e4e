//! The primitives in the loom models and in the simulation: the checker's own, and a fake tokio.
//!
//! loom tries every order of a few steps. shuttle draws orders of many steps at random.

pub(crate) mod fake;
mod lock;
pub(crate) mod runtime;

use std::time::Duration;

#[cfg(loom)]
pub(crate) use loom as checker;
#[cfg(shuttle)]
pub(crate) use shuttle as checker;

pub(crate) use self::checker::lazy_static;
pub(crate) use self::checker::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
};
pub(crate) use self::checker::thread::yield_now;
#[cfg(shuttle)]
pub(crate) use self::checker::thread_local;
#[cfg(loom)]
pub(crate) use self::fake::thread_local;
pub(crate) use self::fake::{self as time, Descriptor, is_traced, now, really_now, thread_number};
pub(crate) use self::lock::{Lock, LockGuard};
pub(crate) use self::runtime::{now_if_current, now_in};

/// In a loom model, everything is as small as possible: a millisecond is one nanosecond.
pub(crate) const MILLISECOND: u64 = if cfg!(loom) { 1 } else { 1_000_000 };
/// One or, if `LOOM_BATCH` is set while the models are compiled, two. Two in the simulation.
pub(crate) const BATCH: usize = match option_env!("LOOM_BATCH") {
    None if cfg!(loom) => 1,
    _ => 2,
};
/// Each critical section but the first defers timers, and the second ends the pass.
pub(crate) const PASS: usize = BATCH;
pub(crate) const MANY: usize = 2 * BATCH;
pub(crate) const TRIES: usize = 1;
pub(crate) const TIMERFD_RANGE: Duration = Duration::from_nanos(15 * MILLISECOND);
