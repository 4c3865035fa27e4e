//! A runtime of a storm, with its driver and its end.

use crate::prelude::*;

use std::sync::atomic::AtomicI64;
use std::thread::{self, JoinHandle};

use super::shared::Shared;

/// A runtime's driver, which other threads use even after the runtime has ended.
pub(crate) struct Driver {
    runtime: Handle,
    wheel: Timers,
    /// Number of timers that should be pending in the driver.
    pub(crate) gauge: AtomicI64,
    /// Set before the end begins. From then on, timers may wake early, and may panic when they are polled.
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

    /// Returns `true` if the free functions use this driver on this thread.
    pub(crate) fn is_here(&self) -> bool {
        let here = Handle::try_current().map(|handle| handle.id());
        !self.is_ending() && here.is_ok_and(|here| here == self.runtime.id())
    }

    /// Makes a sleep with the handle to the driver, or with the free function inside the runtime.
    pub(crate) fn sleep(&self, duration: Duration, free: bool) -> Sleep {
        match free {
            true => inside(&self.runtime, || wheel::sleep(duration)),
            false => self.wheel.sleep(duration),
        }
    }

    /// Returns `Ok` if as many timers are pending as expected, or else both numbers.
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

/// A running runtime. A thread of its own drives it, and ends it in the way that it is told.
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

    /// Ends the runtime in one of three ways.
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
