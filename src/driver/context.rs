//! Which runtime a new timer belongs to, and in which of the driver's shards a timer is armed.
//!
//! **On a worker thread of a multi-thread runtime, a timer belongs to that runtime. Elsewhere, it
//! belongs to the current runtime.** A timer is armed in the shard of the thread that polls it first:
//! a server that spawns `timeout(limit, serve(connection))` makes all timers on the worker that
//! accepts, and other workers poll them.
//!
//! Tokio lends nobody its current handle; getting it counts a reference, on a cache line that all
//! workers use. So a worker remembers its runtime. Two facts never change: a thread that runs a task
//! of a multi-thread runtime belongs to that runtime's pool for as long as it lives, and of all
//! schedulers, only a multi-thread runtime's has workers with an index above 0. Together they prove
//! that a pool thread with such an index runs a worker of its own runtime, although another runtime may
//! be the current one.
//!
//! | `worker_index()` | where | the timer's runtime |
//! | --- | --- | --- |
//! | above 0 | a worker, even inside `enter(other)`, or `other.block_on` in `block_in_place` | the pool's |
//! | 0 | the first worker, or a current-thread runtime on whichever thread | the current handle's |
//! | none | elsewhere in `block_in_place`, `spawn_blocking`, any other thread | the current handle's |
//!
//! Index 0 proves nothing, because a thread that gave its worker away may drive a current-thread
//! runtime. So the first worker asks for the handle each time.
//!
//! # Ground rules
//!
//! * **Believe that a thread belongs to a pool only in a task that was spawned to find out**, never
//!   because of a handle, which may be that of a runtime that was entered. Until that task has run,
//!   the current handle decides.
//! * **Use the noted home only as a cache**: compare the runtime that it was noted for, and ask the
//!   registry if it is another.
//! * **Change no entry without the shard's lock, even as the shard's worker**, because two threads
//!   may have the same index: one is just back from `block_in_place`, or in a `block_on` inside it.
//!   `is_own_home` decides only whether a cancel tries the lock or is queued.

use std::cell::Cell;
use std::sync::Arc;
use std::{mem, ptr};

use super::lifecycle::{Driver, Home};
use super::registry;
use super::wakers::contain;
use crate::platform::runtime::{self, Handle, RuntimeFlavor, worker_index};
use crate::platform::{thread_local, thread_number};

/// A thread's data for its timers, on a single cache line.
#[repr(align(64))]
struct Local {
    /// The multi-thread runtime whose pool this thread belongs to, once that is known.
    pool: Cell<Option<runtime::Id>>,
    /// The runtime for which the driver of [`HOME`] runs.
    runtime: Cell<Option<runtime::Id>>,
    /// The worker index that this thread had when `HOME` was noted.
    index: Cell<Option<usize>>,
    /// The runtime whose timers are made here if its handle is the current one. (`HOME` is noted for it.)
    usual: Cell<Option<runtime::Id>>,
    /// The address of `HOME`.
    home: Cell<*const Home>,
    /// The address of the home in which it made its last timer of a [`Handle`](crate::Handle).
    of_handle: Cell<*const Home>,
    /// Number of timers that this thread has made without knowing its pool.
    made: Cell<u32>,
}

thread_local! {
    static LOCAL: Local = const {
        Local {
            pool: Cell::new(None),
            runtime: Cell::new(None),
            index: Cell::new(None),
            usual: Cell::new(None),
            home: Cell::new(ptr::null()),
            of_handle: Cell::new(ptr::null()),
            made: Cell::new(0),
        }
    };
}

thread_local! {
    /// The home in which this thread arms timers. (It is apart from [`LOCAL`], because reading a
    /// thread-local that has a destructor costs more.)
    static HOME: Cell<Option<Arc<Home>>> = const { Cell::new(None) };
}

/// Returns the runtime that a timer of the free functions belongs to, and starts that runtime's driver
/// if necessary.
///
/// # Panics
///
/// Panics outside a runtime, and in a runtime without timers, with Tokio's message, at the caller's
/// line.
#[inline]
#[track_caller]
pub(crate) fn runtime() -> runtime::Id {
    let of_worker = LOCAL.with(|local| {
        let pool = local.pool.get()?;
        let noted = local.index.get().filter(|&index| index > 0)?;
        (worker_index() == Some(noted)).then_some(pool)
    });
    match of_worker {
        Some(runtime) => runtime,
        None => by_handle(),
    }
}

/// Panics where [`runtime()`] does, except in a runtime without timers if this thread has made another
/// runtime's timer. This is cheaper, because it need not ask for the handle.
#[inline]
#[track_caller]
pub(crate) fn require_runtime() {
    // Tokio runs a pool's threads inside their runtime. Any thread with a worker index is inside a
    // runtime now.
    let is_inside = LOCAL.with(|local| {
        local.pool.get().is_some() || local.runtime.get().is_some() && worker_index().is_some()
    });
    if !is_inside {
        by_handle();
    }
}

/// Returns the runtime of a new timer if the current handle has to be asked. On a current-thread
/// runtime, and on the first worker of any other, every timer comes here.
#[inline(never)]
#[track_caller]
fn by_handle() -> runtime::Id {
    // The handle is dropped at once: nothing that follows has to drop it if it panics.
    let here = Handle::current().id();
    match LOCAL.with(|local| local.usual.get()) == Some(here) {
        true => here,
        false => by_unusual_handle(),
    }
}

/// Finds out the runtime of a new timer, by the table at the head of this file, and notes the home.
#[cold]
#[track_caller]
fn by_unusual_handle() -> runtime::Id {
    let index = worker_index();
    let is_worker = index > Some(0);
    let pool = LOCAL.with(|local| local.pool.get());
    if let Some(pool) = pool.filter(|_| is_worker) {
        look_up(pool);
        return pool;
    }
    let handle = Handle::current();
    let here = handle.id();
    if LOCAL.with(|local| (local.runtime.get(), local.index.get()) != (Some(here), index)) {
        note(&registry::driver_of(&handle), here);
    }
    // A worker may have entered a current-thread runtime, which has no pool: a task there would run on
    // any thread that drives it.
    if !is_worker {
        // A thread of another pool may be a worker again when it makes its next timer.
        let is_usual = pool.is_none_or(|pool| pool == here);
        LOCAL.with(|local| local.usual.set(is_usual.then_some(here)));
    } else if handle.runtime_flavor() == RuntimeFlavor::MultiThread && is_time_to_ask() {
        contain(|| drop(handle.spawn(async move { know_pool(here) })));
    }
    here
}

/// Lets the next timer of this thread find out its home again. Call this if the shard is busy: the thread
/// may have given away the first worker, got another one, and still use the first one's shard. (To ask for
/// the index each time would cost an eighth of arming and cancelling.)
pub(super) fn forget_usual() {
    LOCAL.with(|local| local.usual.set(None));
}

/// Returns this thread's home in the driver of this runtime, or `None` if the driver has ended.
#[inline]
pub(super) fn home_in(runtime: runtime::Id) -> Option<Arc<Home>> {
    let noted = LOCAL.with(|local| local.runtime.get());
    match (noted == Some(runtime)).then(noted_home).flatten() {
        Some(home) => Some(home),
        None => look_up(runtime),
    }
}

#[inline]
fn noted_home() -> Option<Arc<Home>> {
    let read = |place: &Cell<Option<Arc<Home>>>| {
        let home = place.take();
        let found = home.clone();
        // The place is empty, so `forget` leaks nothing.
        mem::forget(place.replace(home));
        found
    };
    // A destructor of another thread-local may use timers after `HOME` is gone.
    HOME.try_with(read).ok().flatten()
}

/// Finds this thread's home in the driver of this runtime, and notes it, except if the thread belongs to
/// another runtime's pool.
#[cold]
fn look_up(runtime: runtime::Id) -> Option<Arc<Home>> {
    let driver = registry::find(runtime)?;
    // A worker that polls the timers of others may make none itself. The timers of another runtime
    // displace nothing that this thread knows.
    let pool = LOCAL.with(|local| local.pool.get());
    if pool.is_none_or(|pool| pool == runtime) {
        note(&driver, runtime);
    }
    Some(Arc::clone(home_of_this_thread(&driver)))
}

/// Notes this thread's home in the driver of this runtime.
fn note(driver: &Driver, runtime: runtime::Id) {
    let home = home_of_this_thread(driver);
    LOCAL.with(|local| {
        local.runtime.set(Some(runtime));
        local.index.set(worker_index());
        local.usual.set(None);
        local.home.set(Arc::as_ptr(home));
    });
    let _ = HOME.try_with(|place| place.set(Some(Arc::clone(home))));
}

/// Returns this thread's home in a known driver, and notes it for [`is_own_home`].
pub(crate) fn home_of(driver: &Driver) -> Arc<Home> {
    let home = home_of_this_thread(driver);
    LOCAL.with(|local| local.of_handle.set(Arc::as_ptr(home)));
    Arc::clone(home)
}

fn home_of_this_thread(driver: &Driver) -> &Arc<Home> {
    let number = worker_index().unwrap_or_else(thread_number);
    &driver.homes[number % driver.homes.len()]
}

/// Returns `true` if this is one of this thread's homes. A wrong answer does no harm.
#[cfg(not(all(test, loom)))]
#[inline]
pub(super) fn is_own_home(home: &Home) -> bool {
    LOCAL.with(|local| ptr::eq(local.home.get(), home) || ptr::eq(local.of_handle.get(), home))
}

#[cfg(all(test, loom))]
pub(super) use crate::platform::fake::is_own_home;

/// Returns the noted home if it has the same driver as `home`. (The timers of a custom driver stay
/// where they were made.)
#[cold]
pub(super) fn own_home_like(home: &Home) -> Option<Arc<Home>> {
    noted_home().filter(|own| Arc::ptr_eq(&own.alarm, &home.alarm))
}

/// Counts a timer of a thread that does not know its pool, and returns `true` if this is the time to
/// ask. Requests are repeated, because another thread may steal the task that answers, but ever more
/// rarely, because a single poll may make millions of timers, and no task runs before it returns.
fn is_time_to_ask() -> bool {
    let made = LOCAL.with(|local| local.made.get().saturating_add(1));
    LOCAL.with(|local| local.made.set(made));
    made.is_power_of_two()
}

/// Notes that this thread, which runs a task of this multi-thread runtime, belongs to its pool.
fn know_pool(runtime: runtime::Id) {
    LOCAL.with(|local| local.pool.set(Some(runtime)));
    look_up(runtime);
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
