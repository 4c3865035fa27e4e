//! A runtime's life: its drivers, and how it comes to its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::runtime::{Handle, Runtime};
use tokio::sync::oneshot;
use wheel::{Sleep, Wheel};

use super::shared::Shared;
use super::tenants;
use crate::{Random, current_thread, multi_thread};

/// What others know of a runtime, also after its end.
pub(crate) struct Life {
    handle: Handle,
    /// Set before the end begins: from then on timers may wake early, and panic when polled.
    ending: AtomicBool,
    wheels: [Wheel; 2],
    gauges: [AtomicI64; 2],
}

/// One of a runtime's two drivers: its own, which the free functions use, or one beside it.
#[derive(Clone)]
pub(crate) struct Driver {
    life: Arc<Life>,
    beside: bool,
}

impl Driver {
    /// How many timers it should have pending.
    pub(crate) fn gauge(&self) -> &AtomicI64 {
        &self.life.gauges[usize::from(self.beside)]
    }

    pub(crate) fn is_ending(&self) -> bool {
        self.life.ending.load(Ordering::SeqCst)
    }

    /// Whether the free functions use it here.
    pub(crate) fn is_here(&self) -> bool {
        let here = Handle::try_current().map(|handle| handle.id());
        !self.beside && !self.is_ending() && here.is_ok_and(|here| here == self.life.handle.id())
    }

    fn wheel(&self) -> &Wheel {
        &self.life.wheels[usize::from(self.beside)]
    }

    /// Whether a sleep is made by a free function.
    pub(crate) fn is_free(&self, free: bool) -> bool {
        free && !self.beside
    }

    /// A sleep, made with the handle to the driver or by a free function inside the runtime.
    pub(crate) fn sleep(&self, duration: Duration, free: bool) -> Sleep {
        if !self.is_free(free) {
            return self.wheel().sleep(duration);
        }
        let _inside = self.life.handle.enter();
        wheel::sleep(duration)
    }

    /// Whether the driver has as many timers pending as it should; else both numbers.
    pub(crate) fn compare(&self) -> Result<(), (usize, i64)> {
        let counted = self.wheel().pending();
        let expected = self.gauge().load(Ordering::SeqCst);
        if i64::try_from(counted) == Ok(expected) {
            Ok(())
        } else {
            Err((counted, expected))
        }
    }
}

/// A runtime that lives, in the hands of whoever will end it.
pub(crate) struct Running {
    pub(crate) life: Arc<Life>,
    shared: Arc<Shared>,
    owner: Owner,
}

enum Owner {
    /// A runtime with workers.
    Here(Runtime),
    /// A current-thread runtime, and its thread.
    There(oneshot::Sender<()>, JoinHandle<()>),
}

impl Life {
    fn new(handle: Handle, random: &mut Random) -> Arc<Self> {
        let _inside = handle.enter();
        let beside = wheel::Builder::new()
            .shards(1 + random.below(3) as usize)
            .entries_per_hold(1 + random.below(40) as usize)
            .build()
            .unwrap();
        Arc::new(Life {
            handle: handle.clone(),
            ending: AtomicBool::new(false),
            wheels: [Wheel::current(), beside],
            gauges: [AtomicI64::new(0), AtomicI64::new(0)],
        })
    }

    pub(crate) fn driver(self: &Arc<Self>, beside: bool) -> Driver {
        Driver {
            life: self.clone(),
            beside,
        }
    }
}

impl Running {
    /// With so many workers; with none, a current-thread runtime.
    pub(crate) fn start(shared: &Arc<Shared>, workers: usize, random: &mut Random) -> Running {
        let (life, owner) = match workers {
            0 => start_current_thread(random.number()),
            _ => start_multi_thread(workers, random),
        };
        for _ in 0..shared.tenants {
            tenants::settle(shared, &life.handle, random.number());
        }
        Running {
            life,
            shared: shared.clone(),
            owner,
        }
    }

    /// Ends it, suddenly or not.
    pub(crate) fn end(self, random: &mut Random) {
        self.life.ending.store(true, Ordering::SeqCst);
        match (self.owner, random.below(3)) {
            (Owner::Here(runtime), 0) => runtime.shutdown_background(),
            (Owner::Here(runtime), 1) => runtime.shutdown_timeout(Duration::from_millis(10)),
            (Owner::Here(runtime), _) => drop(runtime),
            (Owner::There(stop, thread), _) => {
                drop(stop);
                thread.join().unwrap();
            }
        }
        self.shared.counts.runtimes.up();
    }
}

fn start_multi_thread(workers: usize, random: &mut Random) -> (Arc<Life>, Owner) {
    let runtime = multi_thread(workers);
    let life = Life::new(runtime.handle().clone(), random);
    (life, Owner::Here(runtime))
}

fn start_current_thread(seed: u64) -> (Arc<Life>, Owner) {
    let (stop, stopped) = oneshot::channel();
    let (born, lives) = mpsc::channel();
    let thread = thread::spawn(move || {
        let runtime = current_thread();
        let life = Life::new(runtime.handle().clone(), &mut Random::new(seed));
        born.send(life).unwrap();
        // It is told by dropping the sender.
        drop(runtime.block_on(stopped));
    });
    (lives.recv().unwrap(), Owner::There(stop, thread))
}
