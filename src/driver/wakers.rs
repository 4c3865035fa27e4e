//! Wakers, which are user code: how they are compared, woken and dropped.
//!
//! # Ground rules
//!
//! * **Wake and drop wakers here while no lock is held.**
//! * **A panic of another task's waker is caught here.** Only a timer's own waker is dropped
//!   uncaught: if that panics, the drop of the timer panics.
//!
//! # Identity
//!
//! A waker is identified by its data pointer and its vtable. A timer stores both for the waker that
//! it registered, so that a poll with the same waker takes no lock. To do so in nine bytes instead
//! of sixteen, vtables have numbers. A process has only a handful of them (tokio's tasks,
//! `block_on`, `FuturesUnordered`, …), numbered in the order of their appearance. The wakers of any
//! further vtable count as new in each poll, which costs a lock, and is correct. (Comparing all
//! wakers except those of tasks under the lock was tried: such a poll then takes 141 instructions
//! instead of 25.)

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::Waker;

/// The number of a vtable.
pub(crate) type VtableId = u8;

/// Number of vtables that get a number.
const NUMBERS: usize = 16;
/// The number of a vtable without a number. It matches no waker.
const NONE: VtableId = NUMBERS as u8;

/// The addresses of vtables, each in the place of its number. A free place is 0.
static VTABLES: [AtomicUsize; NUMBERS] = [const { AtomicUsize::new(0) }; NUMBERS];

/// Returns the address of the waker's vtable.
#[inline]
pub(crate) fn address(waker: &Waker) -> usize {
    std::ptr::from_ref(waker.vtable()) as usize
}

/// Returns the number of the vtable at this address.
#[inline]
pub(crate) fn id(vtable: usize) -> VtableId {
    if VTABLES[0].load(Relaxed) == vtable {
        0
    } else {
        id_in(&VTABLES, vtable)
    }
}

/// Returns the number of a vtable, and gives it one if it has none. If no number is left, returns
/// one that matches no waker.
fn id_in(vtables: &[AtomicUsize], vtable: usize) -> VtableId {
    let holds = |place: &AtomicUsize| {
        if place.load(Relaxed) == 0 {
            // Another thread may be quicker, with this vtable or another.
            let _ = place.compare_exchange(0, vtable, Relaxed, Relaxed);
        }
        place.load(Relaxed) == vtable
    };
    let place = vtables.iter().position(holds);
    place.map_or(NONE, |place| place as VtableId)
}

/// Returns `true` if the waker's vtable has this number.
#[inline]
pub(crate) fn is(waker: &Waker, id: VtableId) -> bool {
    let place = VTABLES.get(usize::from(id));
    place.is_some_and(|place| place.load(Relaxed) == address(waker))
}

/// Wakes tasks. All wakers run inside one call of [`contain`]. After a panic, another call
/// continues with the rest.
pub(super) fn wake_all(wakers: impl IntoIterator<Item = Waker>) {
    let (mut wakers, mut is_done) = (wakers.into_iter(), false);
    while !is_done {
        contain(|| {
            wakers.by_ref().for_each(Waker::wake);
            is_done = true;
        });
    }
}

/// Drops the wakers of cancelled timers. A task's waker may be the last reference to a runtime that
/// has ended, and that runtime's hooks own values of the user, so the drop runs user code. Each
/// waker is dropped by itself, because a second panic while the first unwinds would abort.
#[inline]
pub(super) fn discard(wakers: impl IntoIterator<Item = Waker>) {
    wakers.into_iter().for_each(|waker| contain(|| drop(waker)));
}

/// Runs user code. That code may panic; and the payload of the panic, when dropped, may panic
/// again. Neither panic reaches another timer, nor the caller.
#[inline]
fn contain(user_code: impl FnOnce()) {
    // The panic hook has already reported the panic, which does not concern the caller.
    let Err(payload) = catch_unwind(AssertUnwindSafe(user_code)) else {
        return;
    };
    if let Err(worse) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        mem::forget(worse);
    }
}

#[cfg(test)]
mod tests;
