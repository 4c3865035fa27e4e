//! A runtime's life: its driver, and its end.

use crate::prelude::*;

use std::sync::atomic::AtomicI64;
use std::thread::{self, JoinHandle};

use super::shared::Shared;

/// A runtime's driver, which others hold, also after the runtime's end.
pub(crate) struct Driver {
    runtime: Handle,
    wheel: Timers,
    /// How many timers the driver should have pending.
    pub(crate) gauge: AtomicI64,
    /// Set before the end begins: from then on timers may wake early, and panic when polled.
    ending: AtomicBool,
}

impl Driver {
    fn new(runtime: &Handle, random: &mut Random) -> Arc<Self> {
        let shards = 1 + random.below(3) as usize;
        let install = || wheel::Builder::new().shards(shards).install().unwrap();
        Arc::new(Driver {
            runtime: runtime.clone(),
            wheel: inside(runtime, install),
            gauge: AtomicI64::new(0),
            ending: AtomicBool::new(false),
        })
    }

    pub(crate) fn is_ending(&self) -> bool {
        self.ending.load(Ordering::SeqCst)
    }

    /// Whether the free functions use this driver here.
    pub(crate) fn is_here(&self) -> bool {
        let here = Handle::try_current().map(|handle| handle.id());
        !self.is_ending() && here.is_ok_and(|here| here == self.runtime.id())
    }

    /// A sleep, made with the handle to the driver, or by a free function inside the runtime.
    pub(crate) fn sleep(&self, duration: Duration, free: bool) -> Sleep {
        match free {
            true => inside(&self.runtime, || wheel::sleep(duration)),
            false => self.wheel.sleep(duration),
        }
    }

    /// Whether the driver has as many timers pending as expected; else both numbers.
    pub(crate) fn compare(&self) -> Result<(), (usize, i64)> {
        let now = self.wheel.metrics().snapshot();
        assert_balanced(&now);
        let counted = now.pending;
        let expected = self.gauge.load(Ordering::SeqCst);
        match i64::try_from(counted) == Ok(expected) {
            true => Ok(()),
            false => Err((counted, expected)),
        }
    }
}

/// A runtime that lives. A thread of its own drives the runtime, and ends the runtime when told how.
pub(crate) struct Running {
    pub(crate) driver: Arc<Driver>,
    shared: Arc<Shared>,
    tell: oneshot::Sender<End>,
    thread: JoinHandle<()>,
}

impl Running {
    /// Starts a runtime with this many workers, or a current-thread runtime if the number is 0.
    pub(crate) fn start(shared: &Arc<Shared>, workers: usize, random: &mut Random) -> Running {
        let (tell, told) = oneshot::channel::<End>();
        let (born, lives) = mpsc::channel();
        let seed = random.number();
        let thread = thread::spawn(move || {
            let runtime = on_workers(workers);
            let driver = Driver::new(runtime.handle(), &mut Random::new(seed));
            born.send(driver).unwrap();
            runtime.block_on(told).unwrap().of(runtime);
        });
        Running {
            driver: lives.recv().unwrap(),
            shared: shared.clone(),
            tell,
            thread,
        }
    }

    /// Ends the runtime, suddenly or not.
    pub(crate) fn end(self, random: &mut Random) {
        self.driver.ending.store(true, Ordering::SeqCst);
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
