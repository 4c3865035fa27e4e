//! Whose timer it is: the driver, and the shard of it, for a timer that is made here.
//!
//! A task on a worker of a multi-thread runtime makes most timers. It is found by two
//! thread-locals: `tokio::runtime::worker_index()` says which worker's scheduler runs on
//! this thread, and [`PROVED`] which runtime's. Neither writes what threads share.
//!
//! | where | `worker_index()` | the timer's driver |
//! | --- | --- | --- |
//! | a task on a worker, also inside `enter(other)` | the worker's | the worker's |
//! | `block_in_place`, `spawn_blocking`, a plain thread | none | the current handle's |
//! | the same, inside a multi-thread runtime's `block_on` on a worker | the worker's | the worker's; and the current handle's, if no task polls it |
//! | a current-thread runtime | 0 | the current handle's; inside a task on worker 0, the worker's |
//! | anywhere, with feature `test-util` | | the current handle's |
//!
//! A timer that is taken for the worker's own is looked at again when it is polled on another
//! runtime's thread, or by something else than a task: a nested `block_on`, or a set of
//! futures. If another runtime is current there, it is registered with both: a worker that
//! blocks may be all that drives its runtime, and a runtime that was only entered may not be
//! driven. With `test-util` nested clocks may be paused: there the current handle is asked at
//! once.
//!
//! # Ground rules
//!
//! * **A proof is never inferred.** A handle says which context this is, not which worker
//!   this thread is. So [`PROVED`] is set only by a task that was spawned on the runtime
//!   for that purpose: whoever runs it is a worker. A thread that is a worker of one
//!   runtime never becomes one of another. The proof is for one index, for a current-thread
//!   runtime that is driven inside `block_in_place` has the index 0; and a thread that makes
//!   a timer where it has another index, or none, has to be proved anew: it may have lost
//!   its worker to another thread, and run blocking tasks from then on.
//! * **One proof at a time.** A task that never yields keeps the proving task waiting, and
//!   its timers ask for the handle meanwhile. A proof that another thread has taken is
//!   asked for again after twice as many timers.
//! * **An index is not exclusive.** While a thread is in `block_in_place`, or just back from
//!   it, another one has its worker. Locks make that harmless. The spare is filled without
//!   one, so it has to be claimed: see `shard/spare.rs`.

use std::cell::Cell;
use std::panic::catch_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::runtime::{self, Handle};

use super::sync::worker_index;
use super::{Driver, DriverRef, ShardRef, registry};

std::thread_local! {
    /// The shard of the worker that this thread is.
    static PROVED: Cell<Option<Proof>> = const { Cell::new(None) };
    /// The driver that was found by its runtime last.
    static FOUND: Cell<Option<(runtime::Id, DriverRef)>> = const { Cell::new(None) };
    /// The runtime that was found to have no timers last.
    static TIMELESS: Cell<Option<runtime::Id>> = const { Cell::new(None) };
    /// Of threads that are no workers: spreads them over the shards.
    static NUMBER: usize = next_number();
}

#[derive(Clone, Copy)]
struct Proof {
    shard: ShardRef,
    generation: u32,
    /// The worker's.
    index: usize,
}

fn number() -> usize {
    NUMBER.with(|number| *number)
}

fn next_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The shard, and its driver's generation, for a timer of the free functions; and whether
/// it is taken for the worker's own.
///
/// # Panics
///
/// Without a runtime, or in one without timers: tokio's message, caller's line.
#[inline]
#[track_caller]
pub(crate) fn shard() -> (ShardRef, u32, bool) {
    let index = worker_index();
    if !cfg!(feature = "test-util") {
        if let Some((shard, generation)) = workers_own(index) {
            return (shard, generation, true);
        }
    }
    let (shard, generation) = exactly(index);
    (shard, generation, false)
}

/// The shard of the worker that this thread is known to be.
#[inline]
fn workers_own(index: Option<usize>) -> Option<(ShardRef, u32)> {
    let proof = PROVED.get()?;
    if index != Some(proof.index) {
        PROVED.set(None);
        return None;
    }
    let open = proof.shard.shard.serves(proof.generation);
    open.then_some((proof.shard, proof.generation))
}

/// Whether this thread is known to be a worker of the runtime that this driver serves.
#[inline]
pub(super) fn is_worker_of(driver: &Driver, generation: u32) -> bool {
    PROVED.get().is_some_and(|proof| {
        std::ptr::eq(proof.shard.driver, driver) && proof.generation == generation
    })
}

/// The shard of the current handle's driver.
#[inline(never)]
#[track_caller]
fn exactly(index: Option<usize>) -> (ShardRef, u32) {
    let handle = Handle::current();
    let driver = driver_of(&handle);
    if index.is_some() && !cfg!(feature = "test-util") {
        proof::ask(&handle, driver);
    }
    let shard = driver.shard(index.unwrap_or_else(number));
    (shard, driver.generation)
}

/// The driver of a runtime, started if need be.
#[track_caller]
pub(crate) fn driver_of(handle: &Handle) -> DriverRef {
    let runtime = handle.id();
    if let Some(driver) = found(runtime) {
        return driver;
    }
    let driver = registry::of(handle);
    FOUND.set(Some((runtime, driver)));
    driver
}

fn found(runtime: runtime::Id) -> Option<DriverRef> {
    let (known, driver) = FOUND.get()?;
    (known == runtime && driver.is_open()).then_some(driver)
}

/// The current runtime's driver, if it serves; started if need be. `None` where there is no
/// runtime, or one without timers.
pub(super) fn driver_here() -> Option<DriverRef> {
    let handle = Handle::try_current().ok()?;
    let runtime = handle.id();
    if let Some(driver) = found(runtime) {
        return Some(driver);
    }
    if cfg!(panic = "abort") || TIMELESS.get() == Some(runtime) {
        return registry::find(&handle);
    }
    // tokio tells nobody whether a runtime has timers: it panics.
    let driver = catch_unwind(|| driver_of(&handle));
    let driver = driver.inspect_err(|_| TIMELESS.set(Some(runtime)));
    driver.ok().filter(|driver| driver.is_open())
}

/// This thread's shard of a driver that is known.
pub(crate) fn of(driver: DriverRef) -> ShardRef {
    driver.shard(worker_index().unwrap_or_else(number))
}

mod proof {
    //! How a thread learns that it is a worker.

    use super::*;

    /// Timers after which a thread that is not proved yet asks again, at most.
    const SELDOM: u32 = 4096;

    std::thread_local! {
        /// Shared with the proving task that this thread waits for.
        static ASKED: Arc<()> = Arc::new(());
        /// Timers to go until the next one is spawned, and until the one after that.
        static WAIT: Cell<(u32, u32)> = const { Cell::new((0, 1)) };
    }

    /// Has a task of this runtime prove the thread that runs it, most likely this one. Not
    /// for every timer, and not while another one is on its way.
    pub(super) fn ask(handle: &Handle, driver: DriverRef) {
        let (wait, next) = WAIT.get();
        if wait > 0 {
            return WAIT.set((wait - 1, next));
        }
        if driver.driver.settings.is_local || !driver.is_open() {
            return;
        }
        WAIT.set((next, (2 * next).min(SELDOM)));
        // A thread that is about to end asks for nothing.
        let asked = ASKED.try_with(|asked| (Arc::strong_count(asked) == 1).then(|| asked.clone()));
        if let Ok(Some(asked)) = asked {
            handle.spawn(async move {
                prove(driver);
                drop(asked);
            });
        }
    }

    fn prove(driver: DriverRef) {
        PROVED.set(worker_index().map(|index| Proof {
            shard: driver.shard(index),
            generation: driver.generation,
            index,
        }));
        WAIT.set((0, 1));
    }
}

/// Whether the shard is that of the worker here. `None` where there is no worker.
#[inline]
pub(super) fn is_own(home: ShardRef) -> Option<bool> {
    worker_index().map(|index| index % home.driver.shards().len() == home.index)
}

/// Whether this thread may fill the shard's spare. The worker whose shard it is claims it.
#[inline]
pub(super) fn has_spare(home: ShardRef) -> bool {
    let spare = &home.shard.spare;
    spare.is_mine() || (is_own(home) == Some(true) && spare.claim())
}
