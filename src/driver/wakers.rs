//! Running foreign code: wakers are woken and dropped here, never under a lock.
//!
//! A waker's `wake` and `drop` are somebody else's code, which may panic; and
//! the payload of that panic, when it is dropped, may panic again. None of it is
//! the affair of the other timers, nor of the thread that happens to run it.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Waker;

/// Wakes a task.
pub(super) fn wake(waker: Waker) {
    guarded(|| waker.wake());
}

/// Drops the wakers of timers that others have cancelled.
pub(super) fn discard(wakers: impl IntoIterator<Item = Waker>) {
    for waker in wakers {
        guarded(|| drop(waker));
    }
}

fn guarded(foreign: impl FnOnce()) {
    // The hook has reported it; there is nobody here to whom it could be returned.
    let Err(payload) = catch_unwind(AssertUnwindSafe(foreign)) else {
        return;
    };
    if let Err(worse) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        mem::forget(worse);
    }
}
