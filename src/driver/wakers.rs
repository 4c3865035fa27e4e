//! Wakers, which are user code: how they are compared and woken, and how user code is contained.
//!
//! # Ground rules
//!
//! * **Wake with [`wake_all`], under no lock.**
//! * **A panic of another task's waker is caught here.** Only a timer's own waker is dropped
//!   uncaught: if that panics, so does the drop, cancel or poll (of the timer) that frees the waker.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{RawWakerVTable, Waker};

/// What identifies a waker: its data pointer and its vtable. A timer keeps them for the waker that
/// it registered, so that a poll with the same waker takes no lock. They are those of the
/// registered clone: while that is registered, no other waker can have its memory.
#[derive(Clone, Copy)]
pub(crate) struct WakerId {
    data: usize,
    vtable: &'static RawWakerVTable,
}

impl WakerId {
    #[inline]
    pub(crate) fn of(waker: &Waker) -> Self {
        let (data, vtable) = (waker.data() as usize, waker.vtable());
        WakerId { data, vtable }
    }

    /// Returns `true` if `waker` has this identity.
    #[inline]
    pub(crate) fn is(self, waker: &Waker) -> bool {
        self.data == waker.data() as usize && std::ptr::eq(self.vtable, waker.vtable())
    }
}

/// Wakes tasks.
#[inline]
pub(super) fn wake_all(wakers: impl IntoIterator<Item = Waker>) {
    for waker in wakers {
        contain(|| waker.wake());
    }
}

/// Runs what may be, or call, user code. Returns `None` if that panics. The panic hook has run by
/// then, and the panic reaches neither another timer nor the caller.
#[inline]
pub(super) fn contain<R>(user_code: impl FnOnce() -> R) -> Option<R> {
    // The payload is not dropped, because its drop may panic, too.
    let result = catch_unwind(AssertUnwindSafe(user_code));
    result.map_err(mem::forget).ok()
}
