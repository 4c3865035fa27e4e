//! The state that all threads of a storm share, and the gate that makes them hold still.

use crate::prelude::*;

use std::sync::{RwLock, RwLockWriteGuard};

use tokio::sync::watch;

use super::counts::Counts;
use super::held::Held;
use super::life::{Driver, Life};

/// Timers that are left for others, at most.
const POOL: usize = 1000;

pub(crate) struct Shared {
    pub(crate) counts: Counts,
    /// Tasks in each runtime.
    pub(crate) tenants: usize,
    /// The runtimes that live.
    lives: Mutex<Vec<Arc<Life>>>,
    /// Timers that are left for others. No timer is touched under this lock.
    pool: Mutex<Vec<Held>>,
    /// Read by threads that work; written to have them hold still.
    gate: RwLock<()>,
    /// The same for tasks.
    closed: watch::Sender<bool>,
    stopped: AtomicBool,
}

impl Shared {
    pub(crate) fn new(tenants: usize) -> Arc<Self> {
        Arc::new(Shared {
            counts: Counts::default(),
            tenants,
            lives: Mutex::default(),
            pool: Mutex::new(Vec::new()),
            gate: RwLock::new(()),
            closed: watch::Sender::new(false),
            stopped: AtomicBool::new(false),
        })
    }

    pub(crate) fn add_life(&self, life: Arc<Life>) {
        self.lives.lock().unwrap().push(life);
    }

    pub(crate) fn replace_life(&self, at: usize, life: Arc<Life>) {
        self.lives.lock().unwrap()[at] = life;
    }

    /// Of the runtimes that live, or have just ceased to.
    pub(crate) fn drivers(&self) -> Vec<Driver> {
        let lives = self.lives.lock().unwrap();
        lives.iter().flat_map(Life::drivers).collect()
    }

    /// Any of these drivers.
    pub(crate) fn driver(&self, random: &mut Random) -> Driver {
        let lives = self.lives.lock().unwrap();
        let at = random.below(lives.len() as u64) as usize;
        lives[at].driver(random.below(2) == 0)
    }

    /// The driver that the free functions use here, if its runtime lives.
    pub(crate) fn driver_here(&self) -> Option<Driver> {
        self.drivers().into_iter().find(Driver::is_here)
    }

    /// Leaves a timer to others; too many are dropped.
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

    /// Works while the gate is open; `false` when the gate is about to be closed.
    pub(crate) fn work(&self, f: impl FnOnce()) -> bool {
        let _open = self.gate.read().unwrap();
        f();
        !*self.closed.borrow()
    }

    /// Waits until no thread works. Tasks begin no more waits, but those that are on their way are
    /// not waited for.
    pub(crate) fn close(&self) -> Closed<'_> {
        self.closed.send_replace(true);
        Closed {
            shared: self,
            _gate: self.gate.write().unwrap(),
        }
    }

    /// Called by a task before each wait; `false` when the task is to end.
    pub(crate) async fn pass(&self) -> bool {
        let mut closed = self.closed.subscribe();
        let opened = closed.wait_for(|closed| !closed || self.is_stopped());
        drop(opened.await);
        !self.is_stopped()
    }

    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.closed.send_modify(|_| {});
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }
}

/// No thread works while this value lives.
pub(crate) struct Closed<'a> {
    shared: &'a Shared,
    _gate: RwLockWriteGuard<'a, ()>,
}

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        self.shared.closed.send_replace(false);
    }
}
