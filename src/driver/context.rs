//! Which driver a timer made on this thread belongs to, and in which of its shards the timer is
//! armed.
//!
//! **A timer belongs to the current runtime. On a thread that is bound to a worker of a
//! multi-thread runtime, a timer belongs to the worker's runtime instead.**
//!
//! Most timers are made by a task on a bound thread. Two thread-locals identify its shard:
//! `tokio::runtime::worker_index()` returns which worker this thread runs, and [`LOCAL`] knows the
//! runtime. Reading them writes nothing that threads share, whereas getting the current handle
//! takes a reference to it.
//!
//! **A timer is armed in the shard of the worker that polls it first.** A server that spawns
//! `timeout(limit, serve(connection))` makes all timers on the worker that accepts, and other
//! workers poll them. So a bound thread that polls an idle timer compares the timer's home with its
//! own, and takes the timer along if both have the same driver. (Timers of a custom driver stay in
//! the shard in which they were made.)
//!
//! | where | `worker_index()` | the timer's driver |
//! | --- | --- | --- |
//! | a task on a worker, even inside `enter(other)` or another multi-thread runtime's `block_on` | the worker's | the worker's |
//! | `block_in_place`, `spawn_blocking`, any other thread | none | the current handle's |
//! | a current-thread runtime | 0 | the current handle's; on a thread that is still bound to worker 0, the worker's |
//!
//! # Ground rules
//!
//! * **Bind a thread only in a task that was spawned for that purpose**, never because of a runtime
//!   handle. A handle identifies the current context, not the worker that this thread runs. But
//!   whichever thread runs a task of the runtime is a worker of it. Until a thread is bound, the
//!   current handle decides. A thread that is a worker of one runtime never becomes a worker of
//!   another.
//! * **Binding a thread to a worker ends that worker's previous binding** (in a shared shard, only
//!   binding the lowest index ends bindings, and it ends all: see `next_binding`). After
//!   `block_in_place`, another thread may have the worker, and this thread may run blocking tasks.
//!   When the other thread requests a binding, usually with its first timer, it increments the
//!   shard's binding number, which ends this thread's binding. A timer of another runtime, made
//!   inside `block_in_place`, unbinds the thread, too.
//! * **Change no entry without the shard's lock, even as the shard's worker**, because two threads
//!   may have the same index: one is just back from `block_in_place`, or in a `block_on` inside it.
//!   A binding decides only where new timers go. `is_own_home` decides only whether a cancel tries
//!   the lock or is queued, and whether an idle timer may move.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{mem, ptr};

use tokio::runtime::{self, Handle, RuntimeFlavor};

use super::lifecycle::{Driver, Home};
use super::registry;
use super::wakers::contain;
use crate::platform::{thread_local, worker_index};

/// The worker that a thread is bound to: its index in the runtime, and the number of this binding,
/// which `Shard::binding` shows until a binding is requested again, or the driver ends.
#[derive(Clone, Copy)]
struct Worker {
    index: u32,
    binding: u32,
}

/// A thread's data for its timers, on a single cache line.
#[repr(align(64))]
struct Local {
    /// The address of the home for timers that the free functions make on this thread.
    home: Cell<*const Home>,
    /// The address of the home in which it made its last timer of a [`Handle`](crate::Handle).
    of_handle: Cell<*const Home>,
    /// The runtime for which the driver of `home` runs.
    runtime: Cell<Option<runtime::Id>>,
    worker: Cell<Option<Worker>>,
    /// Number of timers that this thread has made without a binding since it was last bound.
    made_unbound: Cell<u32>,
    /// Number of first polls, without a binding, of timers that were made elsewhere. They are
    /// counted apart, because some may be another runtime's, and do not lead to a binding.
    polled_unbound: Cell<u32>,
}

thread_local! {
    static LOCAL: Local = const {
        Local {
            home: Cell::new(ptr::null()),
            of_handle: Cell::new(ptr::null()),
            runtime: Cell::new(None),
            worker: Cell::new(None),
            made_unbound: Cell::new(0),
            polled_unbound: Cell::new(0),
        }
    };
}

thread_local! {
    /// The home for timers that the free functions make on this thread. (It is apart from [`LOCAL`],
    /// because reading a thread-local that has a destructor costs more.)
    static HOME: Cell<Option<Arc<Home>>> = const { Cell::new(None) };
}

impl Local {
    /// Returns `true` if this thread was bound to the home's worker, and still is.
    #[inline]
    fn is_bound(&self, home: &Home) -> bool {
        self.worker.get().is_some_and(|worker| {
            home.shard.binding() == worker.binding && worker_index() == Some(worker.index as usize)
        })
    }
}

/// Returns this thread's home if `accepts` takes it.
#[inline]
fn home_if(accepts: impl FnOnce(&Local, &Home) -> bool) -> Option<Arc<Home>> {
    LOCAL.with(|local| {
        let find = |place: &Cell<Option<Arc<Home>>>| {
            // Taken out, so that no borrow is held while `accepts` runs.
            let home = place.take()?;
            let found = accepts(local, &home).then(|| Arc::clone(&home));
            // The place is empty, so `forget` leaks nothing.
            mem::forget(place.replace(Some(home)));
            found
        };
        // A destructor of another thread-local may make timers after `HOME` is gone.
        HOME.try_with(find).ok().flatten()
    })
}

std::thread_local! {
    /// The number of a thread that is not a worker, which spreads such threads over the shards.
    static NUMBER: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed)
    };
}

fn set_home(home: &Arc<Home>, runtime: runtime::Id, worker: Option<Worker>) {
    LOCAL.with(|local| {
        local.home.set(Arc::as_ptr(home));
        local.runtime.set(Some(runtime));
        local.worker.set(worker);
    });
    let _ = HOME.try_with(|place| place.set(Some(Arc::clone(home))));
}

/// Returns the home for a timer of the free functions.
///
/// # Panics
///
/// Panics outside a runtime, and in a runtime without timers, with Tokio's message, at the caller's
/// line.
#[inline]
#[track_caller]
pub(crate) fn home() -> Arc<Home> {
    match home_if(Local::is_bound) {
        Some(home) => home,
        None => by_handle(),
    }
}

/// Panics where [`home`] does, except in a runtime without timers if this thread has made another
/// runtime's timer. This is cheaper, because it does not find the home.
#[inline]
#[track_caller]
pub(crate) fn require_runtime() {
    // A bound thread was started by its worker's runtime and stays inside. Any thread with a worker
    // index is inside a runtime now.
    let is_inside = LOCAL.with(|local| {
        local.worker.get().is_some() || !local.home.get().is_null() && worker_index().is_some()
    });
    if !is_inside {
        by_handle();
    }
}

/// Returns the home in the current handle's driver, which is started if necessary, and requests a
/// binding if this is the time. On a current-thread runtime, normally every timer comes here.
#[inline(never)]
#[track_caller]
fn by_handle() -> Arc<Home> {
    let handle = Handle::current();
    let runtime = handle.id();
    let is_of = |local: &Local, home: &Home| {
        local.runtime.get() == Some(runtime) && !home.shard.is_closed()
    };
    let home = match home_if(is_of) {
        Some(home) => home,
        None => {
            let home = Arc::clone(home_in(&registry::driver_of(&handle)));
            set_home(&home, runtime, None);
            home
        }
    };
    if handle.runtime_flavor() != RuntimeFlavor::CurrentThread
        && is_time_to_bind(|local| &local.made_unbound)
    {
        request_binding(&handle, &home);
    }
    home
}

/// Returns this thread's home in a known driver, and notes it for [`is_own_home`].
pub(crate) fn home_of(driver: &Driver) -> Arc<Home> {
    let home = home_in(driver);
    LOCAL.with(|local| local.of_handle.set(Arc::as_ptr(home)));
    Arc::clone(home)
}

/// Returns this thread's home in a driver.
fn home_in(driver: &Driver) -> &Arc<Home> {
    driver.home(worker_index().unwrap_or_else(|| NUMBER.with(|number| *number)))
}

/// Returns `true` if this is one of this thread's homes. A wrong answer does no harm, because every
/// operation takes the shard's lock.
#[cfg(not(all(test, loom)))]
#[inline]
pub(super) fn is_own_home(home: &Home) -> bool {
    LOCAL.with(|local| ptr::eq(local.home.get(), home) || ptr::eq(local.of_handle.get(), home))
}

#[cfg(all(test, loom))]
pub(super) use crate::platform::fake::is_own_home;

/// Returns the home of the worker that this thread is bound to, if it has the same driver as `home`,
/// which must not be one of this thread's homes. A worker that is not bound requests a binding, because
/// it may poll many timers that were made elsewhere, and make none. The timers of a custom driver, and
/// of a current-thread runtime, stay where they were made, because no thread is bound to their shards.
#[inline(never)]
pub(super) fn bound_home_like(home: &Home) -> Option<Arc<Home>> {
    let settings = &home.alarm.settings;
    if !settings.is_default || settings.current_thread {
        return None;
    }
    let bound = home_if(Local::is_bound);
    if bound.is_none() && is_time_to_bind(|local| &local.polled_unbound) {
        let handle = Handle::try_current().ok()?;
        let driver = registry::find(handle.id())?;
        if home.has_same_driver(&driver.homes[0]) {
            request_binding(&handle, home);
        }
    }
    bound.filter(|own| own.has_same_driver(home))
}

/// Number of timers that an unbound worker makes, or polls first, before its second request for a
/// binding. The wait then doubles each time, because a single poll may make millions of timers, and
/// no task runs before it returns.
const BINDING_INTERVAL: u32 = 256;

/// Counts a timer of an unbound worker, and returns `true` if this is the time to request a
/// binding. Requests are repeated, because another thread may steal the task that binds, but rare,
/// because that task may wait behind one that makes many timers.
fn is_time_to_bind(count: impl FnOnce(&Local) -> &Cell<u32>) -> bool {
    if worker_index().is_none() {
        return false;
    }
    let unbound = LOCAL.with(|local| {
        let unbound = count(local);
        unbound.replace(unbound.get().saturating_add(1))
    });
    unbound == 0 || unbound >= BINDING_INTERVAL && unbound.is_power_of_two()
}

/// Spawns a task that binds the thread that runs it, most likely this thread. Do not call this for
/// a current-thread runtime, because its thread may run other runtimes.
fn request_binding(handle: &Handle, home: &Home) {
    let Some(index) = worker_index() else { return };
    let driver = home.driver().filter(|driver| driver.is_open());
    let Some(driver) = driver else { return };
    // This index now belongs to this thread, so no other thread may stay bound to it. (If this thread
    // is a worker of another runtime and has entered this one, a rightful binding ends, and that worker
    // requests another.)
    next_binding(driver.home(index), index);
    let runtime = handle.id();
    // This calls the runtime's hooks for tasks.
    contain(|| drop(handle.spawn(async move { bind(&driver, runtime) })));
}

/// Binds this thread to the worker that it runs.
fn bind(driver: &Driver, runtime: runtime::Id) {
    let Some(index) = worker_index() else { return };
    let home = driver.home(index);
    // End the previous binding before checking that the driver is open. If the driver closes after
    // the check, that ends this binding.
    let binding = next_binding(home, index);
    if driver.is_open() {
        let index = index as u32;
        set_home(home, runtime, Some(Worker { index, binding }));
        LOCAL.with(|local| {
            local.made_unbound.set(0);
            local.polled_unbound.set(0);
        });
    }
}

/// Ends the home's binding, and returns the number of the next. If several workers share a shard,
/// only the one with the lowest index ends it. The others get the present number, so their bindings
/// end with the first one's, and `is_bound` tells them apart by their index.
fn next_binding(home: &Home, index: usize) -> u32 {
    match index == home.index {
        true => home.shard.end_binding(),
        false => home.shard.binding(),
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
