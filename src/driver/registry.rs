//! Which driver runs for which runtime, and the driver task.
//!
//! # Ground rules
//!
//! * **Call nothing that may panic or run user code under the registry's lock.** The driver is
//!   opened first, because that panics in a runtime without timers. The driver task is spawned
//!   after the lock is released, because a runtime that has ended drops the task inside `spawn`, and
//!   the drop of its [`Service`] takes the lock.
//! * **A driver can be found before its task is spawned**, because a hook that the runtime calls
//!   for new tasks may make timers. It can be found until it closes: whoever closes a driver then
//!   takes it out, except while its task is being spawned (see `is_spawning`).

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;

use super::lifecycle::Driver;
use super::wakers::contain;
use crate::platform::runtime::{self, Handle};
use crate::platform::{Descriptor, Mutex, is_traced, lazy_static, lock};
use crate::settings::Settings;
use crate::spans;

// The default driver of each runtime.
lazy_static! {
    static ref REGISTRY: Mutex<HashMap<runtime::Id, Arc<Driver>>> = Mutex::new(HashMap::new());
}

/// Removes drivers that have shut down, except those whose tasks are being spawned.
fn remove_closed() {
    lock(&REGISTRY).retain(|_, it| it.is_spawning.load(Ordering::Relaxed) || it.is_open());
}

/// Returns the driver that the free functions use in this runtime, and starts it if need be. In a
/// runtime that has ended, or is about to, that driver has shut down, too.
#[track_caller]
pub(crate) fn driver_of(handle: &Handle) -> Arc<Driver> {
    match find(handle.id()) {
        Some(running) => running,
        None => install(handle, Settings::for_runtime(handle), None).unwrap_or_else(|first| first),
    }
}

/// Returns the driver that the free functions use in this runtime, if it was started.
pub(crate) fn find(runtime: runtime::Id) -> Option<Arc<Driver>> {
    lock(&REGISTRY).get(&runtime).cloned()
}

/// Starts the driver of the free functions in this runtime. If they use a driver already, returns
/// that as the error.
#[track_caller]
pub(crate) fn install(
    handle: &Handle,
    settings: Settings,
    fd: Option<Descriptor>,
) -> Result<Arc<Driver>, Arc<Driver>> {
    let service = Service(Driver::new(handle, settings, fd));
    let mut all = lock(&REGISTRY);
    let first = Arc::clone(all.entry(handle.id()).or_insert(Arc::clone(&service.0)));
    drop(all);
    match Arc::ptr_eq(&first, &service.0) {
        true => Ok(service.spawn(handle)),
        false => Err(first),
    }
}

/// Starts a driver in addition to that of the free functions.
#[track_caller]
pub(crate) fn start(handle: &Handle, settings: Settings, fd: Option<Descriptor>) -> Arc<Driver> {
    Service(Driver::new(handle, settings, fd)).spawn(handle)
}

/// Ends the spawning of a driver's task when dropped, even if a hook of the runtime panics. Tokio will
/// never poll the task then, so this closes the driver, and the next timer starts another.
struct Spawning<'a>(&'a Driver);

impl Drop for Spawning<'_> {
    fn drop(&mut self) {
        if self.0.is_spawning.swap(false, Ordering::Relaxed) {
            contain(|| drop(self.0.close()));
        }
        remove_closed();
    }
}

/// Keeps a driver running. The driver task owns it, and its drop closes the driver. (It is dropped
/// without a task if another thread installs a driver for the same runtime first.)
struct Service(Arc<Driver>);

impl Service {
    /// Spawns the driver task, which runs an expiry pass when it is polled (see `poll_task`). A
    /// runtime hook sees the line that makes the first timer as the place of the spawn.
    #[track_caller]
    fn spawn(self, handle: &Handle) -> Arc<Driver> {
        let driver = Arc::clone(&self.0);
        let task = poll_fn(move |cx| {
            // A pass would wake tasks while a dump has the scheduler borrowed.
            if !is_traced(cx.waker()) {
                // The closure owns the whole service, because a `Service` implements `Drop`.
                self.0.poll_task(cx.waker());
            }
            Poll::Pending
        });
        let spawning = Spawning(&driver);
        spans::spawn(task, handle);
        driver.begin();
        drop(spawning);
        driver
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let timer = self.0.close();
        remove_closed();
        // Last, because a subscriber sees it, and may panic.
        drop(timer);
    }
}
