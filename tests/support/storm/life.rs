//! A runtime's life: its drivers, and its end.

use crate::prelude::*;

use std::sync::atomic::AtomicI64;
use std::thread::{self, JoinHandle};

use wheel::Sleep;

use super::shared::Shared;
use super::tenants;

/// The part of a runtime that others hold, also after its end.
pub(crate) struct Life {
    handle: Handle,
    /// Set before the end begins: from then on timers may wake early, and panic when polled.
    ending: AtomicBool,
    wheels: [Wheel; 2],
    gauges: [AtomicI64; 2],
}

/// A runtime has two drivers: its own, which the free functions use, and a second beside that.
#[derive(Clone)]
pub(crate) struct Driver {
    life: Arc<Life>,
    beside: bool,
}

impl Driver {
    /// How many timers the driver should have pending.
    pub(crate) fn gauge(&self) -> &AtomicI64 {
        &self.life.gauges[usize::from(self.beside)]
    }

    pub(crate) fn is_ending(&self) -> bool {
        self.life.ending.load(Ordering::SeqCst)
    }

    /// Whether the free functions use this driver here.
    pub(crate) fn is_here(&self) -> bool {
        let here = Handle::try_current().map(|handle| handle.id());
        !self.beside && !self.is_ending() && here.is_ok_and(|here| here == self.life.handle.id())
    }

    fn wheel(&self) -> &Wheel {
        &self.life.wheels[usize::from(self.beside)]
    }

    /// A sleep, made with the handle to the driver; or by a free function inside the runtime, if these
    /// use this driver.
    pub(crate) fn sleep(&self, duration: Duration, free: bool) -> Sleep {
        if !free || self.beside {
            return self.wheel().sleep(duration);
        }
        let _inside = self.life.handle.enter();
        wheel::sleep(duration)
    }

    /// Whether the driver has as many timers pending as expected; else both numbers.
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

impl Life {
    fn new(handle: &Handle, random: &mut Random) -> Arc<Self> {
        let _inside = handle.enter();
        let beside = wheel::Builder::new()
            .shards(1 + random.below(3) as usize)
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

    pub(crate) fn drivers(self: &Arc<Self>) -> [Driver; 2] {
        [false, true].map(|beside| self.driver(beside))
    }
}

/// A runtime that lives. A thread of its own drives the runtime, and ends the runtime when told how.
pub(crate) struct Running {
    pub(crate) life: Arc<Life>,
    shared: Arc<Shared>,
    tell: oneshot::Sender<End>,
    thread: JoinHandle<()>,
}

impl Running {
    /// With so many workers; with none, a current-thread runtime.
    pub(crate) fn start(shared: &Arc<Shared>, workers: usize, random: &mut Random) -> Running {
        let (tell, told) = oneshot::channel::<End>();
        let (born, lives) = mpsc::channel();
        let seed = random.number();
        let thread = thread::spawn(move || {
            let runtime = match workers {
                0 => current_thread(),
                _ => multi_thread(workers),
            };
            let life = Life::new(runtime.handle(), &mut Random::new(seed));
            born.send(life).unwrap();
            runtime.block_on(told).unwrap().of(runtime);
        });
        let life = lives.recv().unwrap();
        for _ in 0..shared.tenants {
            tenants::settle(shared, &life.handle, random.number());
        }
        Running {
            life,
            shared: shared.clone(),
            tell,
            thread,
        }
    }

    /// Ends the runtime, suddenly or not.
    pub(crate) fn end(self, random: &mut Random) {
        self.life.ending.store(true, Ordering::SeqCst);
        let how = match random.below(3) {
            0 => End::Background,
            1 => End::Timeout(Duration::from_millis(10)),
            _ => End::Drop,
        };
        self.tell.send(how).unwrap();
        self.thread.join().unwrap();
        self.shared.counts.runtimes.up();
    }
}
