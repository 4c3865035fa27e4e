//! Which driver runs for which runtime, the drivers that run for none, and the driver task.
//!
//! # Ground rules
//!
//! * **Call nothing that may panic or run user code under the registry's lock.** The interval is
//!   created first, because creating it panics in a runtime without timers. The driver task is
//!   spawned after the lock is released, because a runtime that has ended drops the task inside
//!   `spawn`, and the drop of its [`Service`] takes the lock.
//! * **A driver can be found before its task is spawned**, because a hook that the runtime calls
//!   for new tasks may make timers. It can be found for as long as its [`Service`] lives. The drop
//!   of the service first ends the generation, and then takes the driver out.

use std::cell::Cell;
use std::collections::HashMap;
use std::future::poll_fn;
use std::mem;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::task::Poll;

use tokio::runtime::{self, Handle};

use super::alarm::interval::{AlarmTimer, HighResolution};
use super::driver::{Driver, DriverRef};
use crate::settings::{Generation, Settings};
use crate::spans;
use crate::sync::is_traced;

#[derive(Default)]
struct Registry {
    running: HashMap<runtime::Id, DriverRef>,
    /// Drivers that run for no runtime, by their settings.
    pool: HashMap<Settings, Vec<&'static Driver>>,
}

static REGISTRY: LazyLock<Mutex<Registry>> = LazyLock::new(Mutex::default);

thread_local! {
    /// The driver that this thread is installing in a runtime. This stops a recursion: a runtime
    /// that has ended drops the driver task inside `spawn`, and its hook for ended tasks may make a
    /// timer. That timer gets this driver, instead of starting another.
    static STARTING: Cell<Option<(runtime::Id, DriverRef)>> = const { Cell::new(None) };
}

/// Restores [`STARTING`] when dropped, even if a hook panics.
struct Starting(Option<(runtime::Id, DriverRef)>);

impl Drop for Starting {
    fn drop(&mut self) {
        STARTING.set(self.0);
    }
}

fn with_registry<R>(f: impl FnOnce(&mut Registry) -> R) -> R {
    f(&mut REGISTRY.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Returns the driver that the free functions use in this runtime, and starts it if need be. In a
/// runtime that has ended, or is about to, that driver has shut down, too.
#[track_caller]
pub(crate) fn driver_of(handle: &Handle) -> DriverRef {
    let starting = || {
        STARTING
            .get()
            .filter(|(runtime, _)| *runtime == handle.id())
    };
    match find(handle).or_else(|| Some(starting()?.1)) {
        Some(running) => running,
        None => install(handle, Settings::for_runtime(handle), None).unwrap_or_else(|first| first),
    }
}

/// Returns the driver that the free functions use in this runtime, if it was started.
pub(super) fn find(handle: &Handle) -> Option<DriverRef> {
    with_registry(|registry| registry.running.get(&handle.id()).copied())
}

/// Starts the driver of the free functions in this runtime. If they use a driver already, returns
/// that as the error.
#[track_caller]
pub(crate) fn install(
    handle: &Handle,
    settings: Settings,
    precise: Option<HighResolution>,
) -> Result<DriverRef, DriverRef> {
    if let Some(first) = find(handle) {
        return Err(first);
    }
    let service = Service::new(handle, settings, precise);
    let Service(running) = service;
    let first = with_registry(|registry| *registry.running.entry(handle.id()).or_insert(running));
    if first.is(running) {
        let _restored = Starting(STARTING.replace(Some((handle.id(), running))));
        return Ok(service.spawn(handle));
    }
    // Another thread was quicker.
    Err(first)
}

/// Starts a driver in addition to that of the free functions.
#[track_caller]
pub(crate) fn start(
    handle: &Handle,
    settings: Settings,
    precise: Option<HighResolution>,
) -> DriverRef {
    Service::new(handle, settings, precise).spawn(handle)
}

/// Keeps a driver running. The driver task owns it, and its drop closes the driver.
struct Service(DriverRef);

impl Service {
    /// Opens a driver in the current runtime, whose handle this must be.
    ///
    /// # Panics
    ///
    /// Panics in a runtime without timers, with tokio's message, at the caller's line.
    #[track_caller]
    fn new(handle: &Handle, mut settings: Settings, precise: Option<HighResolution>) -> Self {
        let timer = AlarmTimer::new(handle, precise);
        // Drivers that differ only in capacity share a pool, because `open` reserves the memory
        // each time.
        let capacity = mem::take(&mut settings.capacity);
        let driver = with_registry(|registry| registry.pool.get_mut(&settings)?.pop());
        let driver = driver.unwrap_or_else(|| Driver::leak(settings));
        Service(driver.open(timer, capacity))
    }

    /// Spawns the driver task, which runs an expiry pass when it is polled (see `poll_task`). A
    /// runtime hook sees the line that makes the first timer as the place of the spawn.
    #[track_caller]
    fn spawn(self, handle: &Handle) -> DriverRef {
        let Service(running) = self;
        let task = poll_fn(move |cx| {
            // The task owns the service, not only its copy of this field.
            let Service(running) = &self;
            // A pass would wake tasks while a dump has the scheduler borrowed.
            if is_traced(cx.waker()) {
                return Poll::Pending;
            }
            running.poll_task(cx.waker())
        });
        spans::spawn(task, handle);
        running.driver.begin(running.generation);
        running
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let Service(closed) = *self;
        let driver = closed.driver;
        let timer = driver.close();
        with_registry(|registry| {
            registry.running.retain(|_, running| !running.is(closed));
            // After the last generation there is no number for another.
            if driver.generation() < Generation::MAX {
                let pool = registry.pool.entry(driver.settings);
                pool.or_default().push(driver);
            }
        });
        // Last, because a subscriber sees it, and may panic.
        drop(timer);
    }
}
