//! Which driver, and which of its shards, a timer made on this thread belongs to.
//!
//! **A timer belongs to the current runtime. On a thread that is bound to a worker of a
//! multi-thread runtime, a timer belongs to the worker's runtime instead.**
//!
//! Most timers are made by a task on a bound thread. Two thread-locals identify its shard:
//! `tokio::runtime::worker_index()` returns which worker this thread runs, and [`LOCAL`] knows the
//! runtime. Reading them writes nothing that threads share, whereas getting the current handle
//! counts a reference to it.
//!
//! | where | `worker_index()` | the timer's driver |
//! | --- | --- | --- |
//! | a task on a worker, even inside `enter(other)` or another multi-thread runtime's `block_on` | the worker's | the worker's |
//! | `block_in_place`, `spawn_blocking`, any other thread | none | the current handle's |
//! | a current-thread runtime | 0 | the current handle's; inside a task on worker 0, the worker's |
//!
//! # Ground rules
//!
//! * **Bind a thread only in a task that was spawned for that purpose**, never because of a runtime
//!   handle. A handle identifies the current context, not the worker that this thread runs. But
//!   whichever thread runs a task of the runtime is a worker of it. Until such a task has run, the
//!   current handle decides. A thread that is a worker of one runtime never becomes a worker of
//!   another.
//! * **Binding a thread to a shard ends the shard's previous binding.** After `block_in_place`,
//!   another thread may have the worker, and this thread may run blocking tasks. When the other
//!   thread makes its first timer, it increments the shard's worker number, which ends this
//!   thread's binding. A thread that makes a timer of another runtime in between has to be bound
//!   again, too.
//! * **Change no entry without the shard's lock, even as the shard's worker**, because two threads
//!   may have the same index while one of them is in `block_in_place`, or just back from it. A
//!   binding decides only where new timers go. Where this thread made its last timer decides only
//!   whether a cancel tries the lock or is queued.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Waker;

use tokio::runtime::{self, Handle, RuntimeFlavor};

use super::driver::DriverRef;
use super::registry;
use super::shard::Shard;
use crate::settings::Generation;
use crate::sync::{thread_local, worker_index};

/// A shard, in this generation of its driver.
pub(crate) type ShardHandle = (&'static Shard, Generation);

/// The shard in which a thread made its last timer of the free functions.
#[derive(Clone, Copy)]
struct Binding {
    shard: ShardHandle,
    /// The runtime for which the driver runs.
    runtime: runtime::Id,
    /// The index of the worker that this thread is bound to; [`NO_INDEX`] if it is not bound.
    index: u32,
    /// The number of this binding, to be compared with `Shard::worker`.
    worker: u32,
}

/// The index of a thread that is not bound. No runtime has this many workers.
const NO_INDEX: u32 = u32::MAX;

impl Binding {
    /// Returns `true` if this thread was bound to the shard's worker, and still is.
    #[inline]
    fn is_bound(&self) -> bool {
        let (shard, _) = self.shard;
        shard.worker() == self.worker && worker_index() == Some(self.index as usize)
    }

    /// Returns `true` if the shard's driver still runs for this runtime.
    fn is_of(&self, handle: &Handle) -> bool {
        let (shard, generation) = self.shard;
        self.runtime == handle.id() && shard.is_open_in(generation)
    }
}

/// A thread's data for its timers, on a single cache line.
#[repr(align(64))]
pub(super) struct Local {
    binding: Cell<Option<Binding>>,
    /// The data pointer of the task's waker that this thread last left in a cached entry. It is
    /// only a hint.
    cached_waker: Cell<usize>,
    /// When this thread last checked for late timers, by the clock of the runtime for which it
    /// checked. The clock of the present runtime may be behind that.
    pub(super) checked: Cell<u64>,
    /// When this thread last made such a check that was not too soon after another.
    pub(super) acted: Cell<u64>,
    /// Number of timers that this thread has made without a binding since it was last bound.
    made_unbound: Cell<u32>,
    /// The index of the shard in which this thread last made a timer of a `Wheel`, or its first
    /// timer of the free functions in a runtime.
    of_wheel: Cell<u32>,
}

thread_local! {
    pub(super) static LOCAL: Local = const {
        Local {
            binding: Cell::new(None),
            cached_waker: Cell::new(0),
            checked: Cell::new(0),
            acted: Cell::new(0),
            made_unbound: Cell::new(0),
            of_wheel: Cell::new(NO_INDEX),
        }
    };
}

std::thread_local! {
    /// The number of a thread that is not a worker, which spreads such threads over the shards.
    static NUMBER: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed)
    };
}

/// Notes that this thread has left a task's waker in its shard's cached entry.
#[inline]
pub(super) fn set_cached_waker(waker: usize) {
    LOCAL.with(|local| local.cached_waker.set(waker));
}

/// Returns `true` if this is the waker that this thread last left in a cached entry. That is only a
/// hint: `put_again` compares the wakers.
#[inline]
pub(super) fn cached_waker_is(waker: &Waker) -> bool {
    LOCAL.with(|local| local.cached_waker.get()) == waker.data() as usize
}

#[inline]
fn binding() -> Option<Binding> {
    LOCAL.with(|local| local.binding.get())
}

fn set_binding(shard: ShardHandle, runtime: runtime::Id, index: u32, worker: u32) {
    let binding = Binding {
        shard,
        runtime,
        index,
        worker,
    };
    LOCAL.with(|local| local.binding.set(Some(binding)));
}

/// Returns the shard, and its driver's generation, for a timer of the free functions.
///
/// # Panics
///
/// Panics outside a runtime, and in a runtime without timers, with tokio's message, at the caller's
/// line.
#[inline]
#[track_caller]
pub(crate) fn shard() -> ShardHandle {
    match binding() {
        Some(binding) if binding.is_bound() => binding.shard,
        _ => by_handle(),
    }
}

/// Panics where [`shard`] does, but in a runtime without timers only if this thread has made no timer
/// yet. This is cheaper, because it does not find the shard.
#[inline]
#[track_caller]
pub(crate) fn require_runtime() {
    // A thread that was bound to a worker was started by that worker's runtime, and is inside it for
    // as long as the thread lives.
    let is_inside = |it: Binding| it.index != NO_INDEX || worker_index().is_some();
    if !binding().is_some_and(is_inside) {
        by_handle();
    }
}

/// Returns the shard of the current handle's driver. On a current-thread runtime, every timer comes
/// here.
#[inline(never)]
#[track_caller]
fn by_handle() -> ShardHandle {
    let handle = Handle::current();
    if handle.runtime_flavor() == RuntimeFlavor::CurrentThread {
        if let Some(binding) = binding().filter(|it| it.is_of(&handle)) {
            return binding.shard;
        }
    }
    by_handle_of(handle)
}

/// Returns the shard of this handle's driver, and requests a binding on a multi-thread runtime.
/// This is out of line so that [`by_handle`] needs only a small stack frame.
#[cold]
#[inline(never)]
#[track_caller]
fn by_handle_of(handle: Handle) -> ShardHandle {
    let shard = match binding() {
        Some(binding) if binding.is_of(&handle) => binding.shard,
        _ => find(&handle),
    };
    if handle.runtime_flavor() != RuntimeFlavor::CurrentThread {
        request_binding(&handle, DriverRef::new(shard.0.driver, shard.1));
    }
    shard
}

/// Returns the shard for a runtime, and starts its driver if necessary.
#[track_caller]
fn find(handle: &Handle) -> ShardHandle {
    let driver = registry::driver_of(handle);
    let shard = (shard_of(driver), driver.generation);
    set_binding(shard, handle.id(), NO_INDEX, u32::MAX);
    shard
}

/// Returns this thread's shard of a known driver, and notes its index for [`is_here`].
pub(crate) fn shard_of(driver: DriverRef) -> &'static Shard {
    let shard = driver.shard(worker_index().unwrap_or_else(|| NUMBER.with(|number| *number)));
    LOCAL.with(|local| local.of_wheel.set(shard.index as u32));
    shard
}

/// Returns `true` if this thread made its last timer of the free functions, or of a [`Wheel`], in
/// this shard. A wrong answer does no harm, because a cancel takes the shard's lock.
///
/// [`Wheel`]: crate::Wheel
#[cfg(not(all(test, loom)))]
#[inline]
pub(super) fn is_here(shard: &Shard) -> bool {
    let is_last = binding().is_some_and(|binding| std::ptr::eq(binding.shard.0, shard));
    is_last || LOCAL.with(|local| local.of_wheel.get() as usize) == shard.index
}

#[cfg(all(test, loom))]
pub(super) use crate::sync::fake::is_here;

/// Number of timers that an unbound thread makes before its second request for a binding. The wait
/// doubles with each request that no binding has followed, because a single poll may make millions
/// of timers, and no task runs before it returns.
const BINDING_INTERVAL: u32 = 256;

/// Spawns a task that binds the thread that runs it, most likely this thread. Does so only for some
/// of the timers, because the task may wait behind a task that makes many, or be stolen by another
/// thread.
fn request_binding(handle: &Handle, driver: DriverRef) {
    let Some(index) = worker_index() else { return };
    let made = LOCAL.with(|local| {
        let made = &local.made_unbound;
        made.replace(made.get().saturating_add(1))
    });
    let is_time = made == 0 || made >= BINDING_INTERVAL && made.is_power_of_two();
    if !is_time || !driver.is_open() {
        return;
    }
    // End the previous binding. Its thread no longer runs this worker, unless it is this thread.
    change_worker(driver.shard(index), index);
    let runtime = handle.id();
    handle.spawn(async move { bind(driver, runtime) });
}

/// Binds this thread to the worker that it runs.
fn bind(driver: DriverRef, runtime: runtime::Id) {
    let Some(index) = worker_index() else { return };
    let shard = driver.shard(index);
    // Change the worker before checking that the driver is open. If the driver closes after the
    // check, it changes the worker again, which ends this binding.
    let worker = change_worker(shard, index);
    if driver.is_open() {
        set_binding((shard, driver.generation), runtime, index as u32, worker);
        LOCAL.with(|local| local.made_unbound.set(0));
    }
}

/// Ends the binding of the shard's thread and returns the number of the next. If several workers
/// share a shard, only the first of them changes it.
fn change_worker(shard: &Shard, index: usize) -> u32 {
    if index == shard.index {
        shard.change_worker()
    } else {
        shard.worker()
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
