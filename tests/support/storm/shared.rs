//! The state that all threads of a storm share, and the gate that makes them pause.

use crate::prelude::*;

use std::sync::RwLock;

use super::counts::Counts;
use super::held::Held;
use super::life::Driver;

/// Maximum number of timers that are left for other threads.
const POOL: usize = 1000;

#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) counts: Counts,
    /// The drivers of runtimes that are running.
    pub(crate) drivers: Mutex<Vec<Arc<Driver>>>,
    /// Timers that are left for other threads. Use no timer under this lock.
    pool: Mutex<Vec<Held>>,
    /// Working threads lock this for reading. Locking it for writing makes them pause.
    gate: RwLock<()>,
    /// Whether the gate is closed, or about to be.
    closed: AtomicBool,
    pub(crate) stopped: AtomicBool,
}

impl Shared {
    /// Returns the drivers of the runtimes that are running, or have just ended.
    pub(crate) fn drivers(&self) -> Vec<Arc<Driver>> {
        self.drivers.lock().unwrap().clone()
    }

    /// Returns any of these drivers.
    pub(crate) fn driver(&self, random: &mut Random) -> Arc<Driver> {
        let drivers = self.drivers.lock().unwrap();
        drivers[random.below(drivers.len() as u64) as usize].clone()
    }

    /// Returns the driver that the free functions use on this thread, if its runtime is running.
    pub(crate) fn driver_here(&self) -> Option<Arc<Driver>> {
        self.drivers().into_iter().find(|driver| driver.is_here())
    }

    /// Leaves a timer to other threads, or drops it if too many are left already.
    pub(crate) fn leave(&self, held: Held) {
        let mut pool = self.pool.lock().unwrap();
        if pool.len() < POOL {
            pool.push(held);
        } else {
            drop(pool);
            drop(held);
        }
    }

    pub(crate) fn take_any(&self, random: &mut Random) -> Option<Held> {
        let mut pool = self.pool.lock().unwrap();
        let at = random.place(pool.len())?;
        Some(pool.swap_remove(at))
    }

    pub(crate) fn take_all(&self) -> Vec<Held> {
        std::mem::take(&mut self.pool.lock().unwrap())
    }

    /// Calls a function while the gate is open. Returns `false` if the gate is about to be closed.
    pub(crate) fn work(&self, f: impl FnOnce()) -> bool {
        let _open = self.gate.read().unwrap();
        f();
        !self.closed.load(Ordering::SeqCst)
    }

    /// Calls a function while no thread works.
    pub(crate) fn alone<R>(&self, f: impl FnOnce() -> R) -> R {
        self.closed.store(true, Ordering::SeqCst);
        let _closed = self.gate.write().unwrap();
        let result = f();
        self.closed.store(false, Ordering::SeqCst);
        result
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }
}
