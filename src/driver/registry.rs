//! Which driver serves which runtime, and the drivers that serve none.
//!
//! # Ground rules
//!
//! * Nothing that can call back is done under the registry's lock: the interval
//!   is made before, since it panics in a runtime without timers, and so is the
//!   driver task, since a runtime that has ended drops it inside `spawn`, and
//!   with it the [`Lease`], which locks the registry.
//! * A driver is found by others only while its task lives: it is entered after
//!   the task is spawned, if it has not ended by then; and a `Lease` first ends
//!   its generation, then takes it out.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use tokio::runtime::{self, Handle};

use super::alarm::Alarm;
use super::settings::Settings;
use super::{Driver, turn, vtable};

/// A driver in service is known by its generation too.
#[derive(Clone, Copy)]
pub(crate) struct Serving {
    pub(crate) driver: &'static Driver,
    pub(crate) generation: u32,
}

/// A timer keeps its driver's generation in 24 bits; a driver that has served
/// so many runtimes is not used again.
const LAST_GENERATION: u32 = (1 << 24) - 1;

#[derive(Default)]
struct Registry {
    serving: HashMap<runtime::Id, Serving>,
    /// Drivers that serve nobody, by their number of shards.
    idle: HashMap<usize, Vec<&'static Driver>>,
}

static REGISTRY: LazyLock<Mutex<Registry>> = LazyLock::new(Mutex::default);

fn with_registry<R>(f: impl FnOnce(&mut Registry) -> R) -> R {
    f(&mut REGISTRY.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The driver that the free functions use in this runtime, started if need be.
#[track_caller]
pub(crate) fn of(handle: &Handle) -> Serving {
    match find(handle) {
        Some(serving) => serving,
        None => install(handle, &Settings::for_runtime(handle)).unwrap_or_else(|first| first),
    }
}

fn find(handle: &Handle) -> Option<Serving> {
    with_registry(|registry| registry.serving.get(&handle.id()).copied())
}

/// Whether the current runtime takes no more tasks. It tells nobody, but by that.
pub(crate) fn is_runtime_ending() -> bool {
    Handle::try_current().is_ok_and(|handle| {
        // Only the end of the runtime finishes it.
        let probe = handle.spawn(std::future::pending::<()>());
        let ending = probe.is_finished();
        probe.abort();
        ending
    })
}

/// Starts a driver as the one that the free functions use in this runtime. The
/// error is the one that does already.
#[track_caller]
pub(crate) fn install(handle: &Handle, settings: &Settings) -> Result<Serving, Serving> {
    if let Some(first) = find(handle) {
        return Err(first);
    }
    let lease = Lease::new(handle, settings);
    let serving = lease.serving;
    let task = handle.spawn(turn::task(lease));
    let first = with_registry(|registry| registry.enter(handle.id(), serving));
    if first.is(serving) {
        return Ok(serving);
    }
    // Another thread was quicker.
    task.abort();
    Err(first)
}

/// Starts a driver beside the one that the free functions use.
#[track_caller]
pub(crate) fn start(handle: &Handle, settings: &Settings) -> Serving {
    let lease = Lease::new(handle, settings);
    let serving = lease.serving;
    handle.spawn(turn::task(lease));
    serving
}

impl Serving {
    fn is(self, other: Serving) -> bool {
        std::ptr::eq(self.driver, other.driver) && self.generation == other.generation
    }
}

/// A driver's time in service. Held by its task; dropping it closes the driver.
pub(crate) struct Lease {
    serving: Serving,
    runtime: runtime::Id,
}

impl Lease {
    /// Opens a driver in the current runtime, whose handle this must be.
    ///
    /// # Panics
    ///
    /// In a runtime without timers, with tokio's message, at the caller's line.
    #[track_caller]
    fn new(handle: &Handle, settings: &Settings) -> Self {
        let interval = Alarm::interval();
        vtable::learn_from_a_task();
        let driver = with_registry(|registry| registry.idle(settings.shards));
        let driver = driver.unwrap_or_else(|| Driver::leak(settings.shards));
        driver.open(interval, handle.id(), settings);
        let serving = Serving {
            driver,
            generation: driver.generation(),
        };
        Lease {
            serving,
            runtime: handle.id(),
        }
    }

    pub(super) fn driver(&self) -> &'static Driver {
        self.serving.driver
    }

    pub(super) fn generation(&self) -> u32 {
        self.serving.generation
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let driver = self.serving.driver;
        driver.close();
        with_registry(|registry| registry.retire(self.runtime, self.serving));
        if driver.generation() < LAST_GENERATION {
            with_registry(|registry| registry.pool(driver));
        }
    }
}

impl Registry {
    fn idle(&mut self, shards: usize) -> Option<&'static Driver> {
        self.idle.get_mut(&shards)?.pop()
    }

    fn pool(&mut self, driver: &'static Driver) {
        self.idle
            .entry(driver.shards().len())
            .or_default()
            .push(driver);
    }

    /// Who serves the runtime: this one, unless there is another. One that has
    /// ended meanwhile is not entered.
    fn enter(&mut self, runtime: runtime::Id, serving: Serving) -> Serving {
        if serving.driver.generation() != serving.generation {
            return serving;
        }
        *self.serving.entry(runtime).or_insert(serving)
    }

    fn retire(&mut self, runtime: runtime::Id, serving: Serving) {
        if self
            .serving
            .get(&runtime)
            .is_some_and(|found| found.is(serving))
        {
            self.serving.remove(&runtime);
        }
    }
}
