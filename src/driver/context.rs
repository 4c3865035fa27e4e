//! The owner of a timer: the driver, and the driver's shard, for a timer that is made here.
//!
//! **A timer belongs to the current runtime. On a thread that has been proved to be a worker of a
//! multi-thread runtime, a timer belongs to the worker's runtime instead.**
//!
//! A task on such a worker makes most timers. Two thread-locals tell its shard:
//! `tokio::runtime::worker_index()` says which worker's scheduler runs on this thread, and
//! [`LOCAL`] which runtime's. Reading them writes nothing that threads share; getting the current
//! handle counts a reference to the handle.
//!
//! | where | `worker_index()` | the timer's driver |
//! | --- | --- | --- |
//! | a task on a worker, also inside `enter(other)` or another multi-thread runtime's `block_on` | the worker's | the worker's |
//! | `block_in_place`, `spawn_blocking`, a plain thread | none | the current handle's |
//! | a current-thread runtime | 0 | the current handle's; inside a task on worker 0, the worker's |
//!
//! # Ground rules
//!
//! * **A proof is never inferred.** A handle says which context this is, not which worker this
//!   thread is. So only a task that was spawned on the runtime for that purpose proves a thread:
//!   the thread that runs this task is a worker. Until then, the current handle decides. A thread
//!   that is a worker of one runtime never becomes a worker of another.
//! * **The next proof ends the last.** After `block_in_place` another thread may have the worker,
//!   and this thread run blocking tasks. The other thread, with its first timer, ends the proof of
//!   this thread: the shard counts its workers. A thread that makes a timer of another runtime
//!   meanwhile has to be proved anew, too.
//! * **An index is not exclusive.** While a thread is in `block_in_place`, or just back from it,
//!   another thread has its worker. So a shard's worker changes no entry of the shard without the
//!   shard's lock. Which thread has a shard decides only the cheapest way to cancel there.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Waker;

use tokio::runtime::{self, Handle, RuntimeFlavor};

use super::driver::{DriverRef, ShardRef};
use super::registry;
use crate::clock::Tick;
use crate::settings::Generation;
use crate::sync::{thread_local, worker_index};

/// A shard, in this time in service of its driver.
pub(crate) type Found = (ShardRef, Generation);

/// The shard that a thread has found last.
#[derive(Clone, Copy)]
struct Here {
    found: Found,
    /// The runtime that the driver serves then.
    runtime: runtime::Id,
    /// The index of the worker that this thread has been proved to be; [`NO_INDEX`] otherwise.
    index: u32,
    /// Which of the shard's workers that is.
    worker: u32,
}

/// Not a worker's index: the thread is not proved. No runtime has so many workers.
const NO_INDEX: u32 = u32::MAX;

impl Here {
    /// Whether this thread has been proved to be the shard's worker, and still is.
    #[inline]
    fn is_proved(&self) -> bool {
        let (shard, _) = self.found;
        shard.shard.worker() == self.worker && worker_index() == Some(self.index as usize)
    }

    /// Whether the shard's driver still serves this runtime.
    fn serves(&self, handle: &Handle) -> bool {
        let (shard, generation) = self.found;
        self.runtime == handle.id() && shard.shard.serves(generation)
    }
}

/// A thread's data for its timers, on a single line of memory.
#[repr(align(64))]
struct Local {
    here: Cell<Option<Here>>,
    /// The data pointer of the waker that this thread has left in a spare last: a hint.
    left: Cell<usize>,
    /// When this thread last checked for late timers, by the clock of that place.
    checked: Cell<u64>,
    /// When it last did something about them.
    acted: Cell<u64>,
    /// Timers to go until this thread asks for a proof.
    wait: Cell<u32>,
}

thread_local! {
    static LOCAL: Local = const {
        Local {
            here: Cell::new(None),
            left: Cell::new(0),
            checked: Cell::new(0),
            acted: Cell::new(0),
            wait: Cell::new(0),
        }
    };
}

std::thread_local! {
    /// Of threads that are no workers: spreads them over the shards.
    static NUMBER: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed)
    };
}

/// Notes that this thread has left a task's waker in its shard's spare.
#[inline]
pub(super) fn set_left(waker: usize) {
    LOCAL.with(|local| local.left.set(waker));
}

/// Whether this thread has left this waker in a spare last. Only a hint: `put_again` compares the
/// wakers.
#[inline]
pub(super) fn has_left(waker: &Waker) -> bool {
    LOCAL.with(|local| local.left.get()) == waker.data() as usize
}

/// How many nanoseconds ago this thread last checked for late timers. (That may have been in another
/// runtime, whose clock may be ahead.)
pub(super) fn since_last_check(now: Tick) -> u64 {
    LOCAL.with(|local| now.0.abs_diff(local.checked.replace(now.0)))
}

/// Whether this thread's last check that did something was so many nanoseconds ago. If so, this one counts
/// as such.
pub(super) fn is_time_to_act(now: Tick, interval: u64) -> bool {
    LOCAL.with(|local| {
        let is_time = now.0.abs_diff(local.acted.get()) >= interval;
        if is_time {
            local.acted.set(now.0);
        }
        is_time
    })
}

#[inline]
fn last_here() -> Option<Here> {
    LOCAL.with(|local| local.here.get())
}

fn set_here(here: Here) {
    LOCAL.with(|local| local.here.set(Some(here)));
}

/// Timers after which a thread that is not proved yet asks again.
const SELDOM: u32 = 256;

/// The shard, and its driver's generation, for a timer of the free functions.
///
/// # Panics
///
/// Without a runtime, or in a runtime without timers: tokio's message, caller's line.
#[inline]
#[track_caller]
pub(crate) fn shard() -> Found {
    match last_here() {
        Some(here) if here.is_proved() => here.found,
        _ => by_handle(),
    }
}

/// The shard of the current handle's driver. On a current-thread runtime each timer comes here.
#[inline(never)]
#[track_caller]
fn by_handle() -> Found {
    let handle = Handle::current();
    if handle.runtime_flavor() == RuntimeFlavor::CurrentThread {
        if let Some(here) = last_here().filter(|here| here.serves(&handle)) {
            return here.found;
        }
    }
    by_handle_of(handle)
}

/// Out of line: [`by_handle`] keeps a small frame.
#[cold]
#[inline(never)]
#[track_caller]
fn by_handle_of(handle: Handle) -> Found {
    let found = match last_here() {
        Some(here) if here.serves(&handle) => here.found,
        _ => find(&handle),
    };
    if handle.runtime_flavor() != RuntimeFlavor::CurrentThread {
        let (shard, generation) = found;
        ask_for_proof(&handle, DriverRef::new(shard.driver, generation));
    }
    found
}

/// Starts the driver if need be.
#[track_caller]
fn find(handle: &Handle) -> Found {
    let driver = registry::driver_of(handle);
    let found = (shard_of(driver), driver.generation);
    set_here(Here {
        found,
        runtime: handle.id(),
        index: NO_INDEX,
        worker: u32::MAX,
    });
    found
}

/// This thread's shard of a known driver.
pub(crate) fn shard_of(driver: DriverRef) -> ShardRef {
    driver.shard(worker_index().unwrap_or_else(|| NUMBER.with(|number| *number)))
}

/// Whether this thread made its last timer in this shard.
#[cfg(not(all(test, loom)))]
#[inline]
pub(super) fn is_here(shard: ShardRef) -> bool {
    last_here().is_some_and(|here| std::ptr::eq(here.found.0, shard))
}

#[cfg(all(test, loom))]
pub(super) use crate::sync::fake::is_here;

/// Has a task of this runtime prove the thread that runs the task, most likely this thread. Not for
/// every timer: the task may wait behind a task that makes many, or be stolen by another thread.
fn ask_for_proof(handle: &Handle, driver: DriverRef) {
    let Some(index) = worker_index() else { return };
    let wait = LOCAL.with(|local| local.wait.get());
    if wait > 0 {
        return set_wait(wait - 1);
    }
    if driver.is_open() {
        set_wait(SELDOM);
        // The thread that was proved before has lost its worker.
        change_worker(driver.shard(index), index);
        let runtime = handle.id();
        handle.spawn(async move { prove(driver, runtime) });
    }
}

fn set_wait(timers: u32) {
    LOCAL.with(|local| local.wait.set(timers));
}

fn prove(driver: DriverRef, runtime: runtime::Id) {
    let Some(index) = worker_index() else { return };
    let shard = driver.shard(index);
    // In this order: the end of a driver changes the worker, too.
    let worker = change_worker(shard, index);
    if driver.is_open() {
        set_here(Here {
            found: (shard, driver.generation),
            runtime,
            index: index as u32,
            worker,
        });
        set_wait(0);
    }
}

/// Ends the proofs of the shard's threads. Where workers share a shard, the first of them does.
fn change_worker(shard: ShardRef, index: usize) -> u32 {
    match index == shard.index {
        true => shard.shard.change_worker(),
        false => shard.shard.worker(),
    }
}
