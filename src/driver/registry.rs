//! Which driver serves which runtime, and the drivers that serve none.
//!
//! # Ground rules
//!
//! * Nothing that can call back is done under the registry's lock. The interval is made before: in
//!   a runtime without timers that panics. The driver task is spawned after: a runtime that has
//!   ended drops the task inside `spawn`, with its [`Service`], which locks the registry.
//! * A driver is found before its task is spawned: a hook that the runtime calls for new tasks may
//!   make timers. A driver is found as long as its [`Service`] lives, whose drop first ends the
//!   generation, then takes the driver out.

use std::cell::Cell;
use std::collections::HashMap;
use std::future::poll_fn;
use std::mem;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::task::{Poll, Waker};

use tokio::runtime::{self, Handle};

use super::alarm::interval::AlarmTimer;
use super::alarm::timerfd::HighResolution;
use super::driver::{Driver, DriverRef};
use crate::settings::{Generation, Settings};

#[derive(Default)]
struct Registry {
    serving: HashMap<runtime::Id, DriverRef>,
    /// Drivers that serve no runtime.
    idle: HashMap<Settings, Vec<&'static Driver>>,
}

static REGISTRY: LazyLock<Mutex<Registry>> = LazyLock::new(Mutex::default);

thread_local! {
    /// The driver whose task this thread is spawning. Stops a recursion: a runtime that has ended
    /// drops the task inside `spawn`, and its hook for ended tasks may make a timer. That timer gets
    /// this driver, and starts no other.
    static STARTING: Cell<Option<DriverRef>> = const { Cell::new(None) };
}

/// Its drop ends the starting, also where a hook panics: see [`STARTING`].
struct Starting;

impl Drop for Starting {
    fn drop(&mut self) {
        STARTING.set(None);
    }
}

fn with_registry<R>(f: impl FnOnce(&mut Registry) -> R) -> R {
    f(&mut REGISTRY.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The driver that the free functions use in this runtime, started if need be. In a runtime that
/// has ended, or is about to, that driver has ended, too.
#[track_caller]
pub(crate) fn driver_of(handle: &Handle) -> DriverRef {
    match find(handle).or_else(|| STARTING.get()) {
        Some(serving) => serving,
        None => install(handle, Settings::for_runtime(handle), None).unwrap_or_else(|first| first),
    }
}

pub(super) fn find(handle: &Handle) -> Option<DriverRef> {
    with_registry(|registry| registry.serving.get(&handle.id()).copied())
}

/// Starts the driver of the free functions in this runtime. The error is the driver that serves
/// them already.
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
    let serving = service.serving;
    let first = with_registry(|registry| *registry.serving.entry(handle.id()).or_insert(serving));
    if first.is(serving) {
        return Ok(service.spawn(handle));
    }
    // Another thread was quicker.
    Err(first)
}

/// Starts a driver beside that of the free functions.
#[track_caller]
pub(crate) fn start(
    handle: &Handle,
    settings: Settings,
    precise: Option<HighResolution>,
) -> DriverRef {
    Service::new(handle, settings, precise).spawn(handle)
}

/// A driver's time in service. Held by the driver's task; the drop closes the driver.
struct Service {
    serving: DriverRef,
    runtime: runtime::Id,
}

impl Service {
    /// Opens a driver in the current runtime, whose handle this must be.
    ///
    /// # Panics
    ///
    /// In a runtime without timers, with tokio's message, at the caller's line.
    #[track_caller]
    fn new(handle: &Handle, mut settings: Settings, precise: Option<HighResolution>) -> Self {
        let timer = AlarmTimer::new(handle, precise);
        // Room is made anew each time: drivers that differ in that alone are of the same kind.
        let capacity = mem::take(&mut settings.capacity);
        let driver = with_registry(|registry| registry.idle.get_mut(&settings)?.pop());
        let driver = driver.unwrap_or_else(|| Driver::leak(settings));
        let serving = driver.serve(timer, capacity);
        let runtime = handle.id();
        Service { serving, runtime }
    }

    /// Starts the driver task, which has a turn whenever it is woken. For a hook, the task is spawned at the line that makes the first timer.
    #[track_caller]
    fn spawn(self, handle: &Handle) -> DriverRef {
        let serving = self.serving;
        STARTING.set(Some(serving));
        let starting = Starting;
        // Through a method: the closure takes the whole service along, not a copy of a field.
        handle.spawn(poll_fn(move |cx| self.poll(cx.waker())));
        // First: what follows may run foreign code.
        drop(starting);
        serving.driver.begin(serving.generation);
        serving
    }

    /// Ready when the driver is to end: the task then drops this.
    fn poll(&self, task: &Waker) -> Poll<()> {
        let DriverRef { driver, generation } = self.serving;
        driver.poll_task(generation, task)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.serving.driver.close();
        with_registry(|registry| registry.retire(self.runtime, self.serving));
    }
}

impl Registry {
    /// Takes out a driver that has been closed.
    fn retire(&mut self, runtime: runtime::Id, closed: DriverRef) {
        let found = self.serving.get(&runtime);
        if found.is_some_and(|found| found.is(closed)) {
            self.serving.remove(&runtime);
        }
        let driver = closed.driver;
        // There is no number for another generation after the last.
        if driver.generation() < Generation::MAX {
            self.idle.entry(driver.settings).or_default().push(driver);
        }
    }
}
