//! The primitives of the models: loom's, and a tokio whose interval fires when a model says so.

pub(crate) mod fake;
mod lock;

pub(crate) use loom::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering},
};
pub(crate) use loom::thread::yield_now;

pub(crate) use self::fake::{
    self as time, Descriptor, is_traced, now, now as really_now, now_if_current, now_in,
    thread_local, worker_index,
};
pub(crate) use self::lock::{Lock, LockGuard};
