//! Wakers, which are foreign code: told apart, woken, dropped.
//!
//! # Ground rules
//!
//! * A waker is woken or dropped here with no lock held.
//! * A panic of another task's waker ends here. A timer's own waker is dropped with the timer, and
//!   the panic is that drop's.
//!
//! # Identity
//!
//! Vtables have numbers, so that a timer keeps a waker's identity in nine bytes instead of sixteen.
//! A waker is its data pointer and its vtable; comparing the data alone would take two wakers for
//! the same where data is a shared constant. A process has but a handful of vtables (tokio's tasks,
//! `block_on`, `FuturesUnordered`, …). They are numbered in the order of their appearance; if there
//! ever are more than 255, the rest have no number, and their wakers count as new at each poll,
//! which costs a lock and is right.

use std::future::{Future, poll_fn};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use tokio::task::LocalSet;

/// The number of a vtable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VtableId(pub(crate) u8);

const NUMBERS: usize = 255;
/// Not a number: matches no waker.
const NONE: VtableId = VtableId(NUMBERS as u8);

static VTABLES: [AtomicUsize; NUMBERS] = [const { AtomicUsize::new(0) }; NUMBERS];

/// Number 0 is that of tokio's tasks, whose vtable is learnt before any other.
pub(crate) const OF_TASKS: VtableId = VtableId(0);

/// Learns the vtable of tokio's tasks from a task made for the purpose. A driver's own task, which
/// may wait in the queue of a busy worker, would be too late.
pub(crate) fn learn_from_a_task() {
    // Once: where the runtime calls a hook for each task, that may make a timer, too.
    static BEGUN: AtomicBool = AtomicBool::new(false);
    if BEGUN.swap(true, Ordering::Relaxed) {
        return;
    }
    let tasks = LocalSet::new();
    tasks.spawn_local(poll_fn(|cx| {
        note_task(cx.waker());
        Poll::Ready(())
    }));
    // The task runs here and now, and is ready at once.
    let _ = pin!(tasks).poll(&mut Context::from_waker(Waker::noop()));
}

/// Notes the vtable of tokio's tasks, from a waker of such a task.
pub(crate) fn note_task(waker: &Waker) {
    VTABLES[0].store(address(waker), Ordering::Relaxed);
}

#[inline]
pub(crate) fn address(waker: &Waker) -> usize {
    std::ptr::from_ref(waker.vtable()) as usize
}

/// The number of the vtable at this address; given now if there is none yet.
#[inline]
pub(crate) fn id(vtable: usize) -> VtableId {
    if VTABLES[0].load(Ordering::Relaxed) == vtable {
        return OF_TASKS;
    }
    search(vtable)
}

/// Whether the waker's vtable has this number.
#[inline]
pub(crate) fn is(waker: &Waker, id: VtableId) -> bool {
    let known = VTABLES.get(usize::from(id.0));
    known.is_some_and(|known| known.load(Ordering::Relaxed) == address(waker))
}

fn search(vtable: usize) -> VtableId {
    let holds = |known: &AtomicUsize| match known.load(Ordering::Relaxed) {
        // Only a free place is written to: workers share this table.
        0 => known
            .compare_exchange(0, vtable, Ordering::Relaxed, Ordering::Relaxed)
            .map_or_else(|holder| holder == vtable, |_| true),
        holder => holder == vtable,
    };
    let after_tasks = VTABLES[1..].iter().position(holds);
    after_tasks.map_or(NONE, |number| VtableId(number as u8 + 1))
}

/// Wakes a task, with no lock held.
pub(super) fn wake(waker: Waker) {
    contain(|| waker.wake());
}

/// Drops the wakers of cancelled timers. (A task's waker may be the last reference to a runtime that
/// has ended, whose hooks own values of the user's: their drop is foreign code.) Each by itself: a
/// second panic while the first unwinds would abort.
#[inline]
pub(super) fn discard(wakers: impl IntoIterator<Item = Waker>) {
    wakers.into_iter().for_each(|waker| contain(|| drop(waker)));
}

/// Runs user code. That code may panic; and the payload of the panic, when dropped, may panic again.
/// Neither panic reaches another timer, nor the caller.
fn contain(foreign: impl FnOnce()) {
    // The hook has reported the panic, which is none of the caller's.
    let Err(payload) = catch_unwind(AssertUnwindSafe(foreign)) else {
        return;
    };
    if let Err(worse) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        mem::forget(worse);
    }
}

#[cfg(test)]
mod tests;
