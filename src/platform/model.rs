//! The primitives in the loom models: loom's own, and a fake tokio whose interval fires when the model
//! decides.

pub(crate) mod fake;
mod lock;

pub(crate) use loom::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
};
pub(crate) use loom::thread::yield_now;

pub(crate) use self::fake::{
    self as time, Descriptor, is_traced, now, now as really_now, now_if_current, now_in,
    thread_local, worker_index,
};
pub(crate) use self::lock::{Lock, LockGuard};
