//! Wakers that are counted, some of which do things that wakers should not.
//!
//! # Ground rules
//!
//! * A witness is registered with a single timer, and woken at most once for each deadline of the timer.
//!   After a wake the owner takes another witness.
//! * While a witness is registered it is *open*, and its driver's gauge counts it. The wake, or the
//!   owner that takes the witness back, closes it and counts it out again: so the gauge is the number
//!   that the driver should have pending.
//! * A witness whose timer was seen ready, or lost its runtime, must have been woken by the time
//!   nothing refers to the witness any more.

use crate::prelude::*;

use std::panic::resume_unwind;
use std::sync::atomic::AtomicU32;
use std::time::Instant;

use super::held::Held;
use super::life::Driver;
use super::shared::Shared;

/// A waker's deed when woken, besides counting the wake.
pub(crate) enum Deed {
    Panic,
    /// Drops these timers; a waker that is never woken drops them with itself.
    Drop(Vec<Held>),
    /// Arms another timer, and leaves that timer to others.
    Arm(Arc<Driver>, Duration),
    /// Polls, moves or drops a timer that another has left.
    Meddle,
    /// Keeps the driver busy for this long.
    Block(Duration),
}

pub(crate) struct Witness {
    shared: Arc<Shared>,
    driver: Mutex<Arc<Driver>>,
    /// Not to be woken before.
    deadline: Instant,
    /// How often the deadline was moved: each move allows another wake.
    moves: AtomicU32,
    open: AtomicBool,
    wakes: AtomicU32,
    must_be_woken: AtomicBool,
    deed: Mutex<Option<Deed>>,
}

impl Witness {
    pub(crate) fn new(
        shared: &Arc<Shared>,
        driver: &Arc<Driver>,
        deadline: Instant,
        deed: Option<Deed>,
    ) -> Arc<Self> {
        shared.counts.witnesses.fetch_add(1, Ordering::SeqCst);
        Arc::new(Witness {
            shared: shared.clone(),
            driver: Mutex::new(driver.clone()),
            deadline,
            moves: AtomicU32::new(0),
            // Set before any wake can come.
            open: AtomicBool::new(false),
            wakes: AtomicU32::new(0),
            must_be_woken: AtomicBool::new(false),
            deed: Mutex::new(deed),
        })
    }

    /// To be called before the poll that may register the witness.
    pub(crate) fn open(&self) {
        if !self.open.swap(true, Ordering::SeqCst) {
            self.driver().gauge.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn driver(&self) -> Arc<Driver> {
        self.driver.lock().unwrap().clone()
    }

    /// Its timer goes on as tokio's own in the runtime of another driver, because the last driver has ended.
    pub(crate) fn go_on_with(&self, driver: &Arc<Driver>) {
        self.close();
        *self.driver.lock().unwrap() = driver.clone();
    }

    pub(crate) fn close(&self) {
        if self.open.swap(false, Ordering::SeqCst) {
            self.driver().gauge.fetch_sub(1, Ordering::SeqCst);
        }
    }

    pub(crate) fn move_deadline(&self) {
        self.moves.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn must_be_woken(&self) {
        self.must_be_woken.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_woken(&self) -> bool {
        self.wakes.load(Ordering::SeqCst) > 0
    }

    fn act(&self, deed: Deed) {
        match deed {
            Deed::Drop(timers) => drop(timers),
            Deed::Arm(driver, duration) => Held::arm_for_others(&self.shared, &driver, duration),
            Deed::Meddle => Held::meddle(&self.shared),
            Deed::Block(duration) => thread::sleep(duration),
            // Without a word from the panic hook.
            Deed::Panic => resume_unwind(Box::new("a waker that panics")),
        }
    }
}

impl Wake for Witness {
    fn wake(self: Arc<Self>) {
        let (counts, early) = (
            &self.shared.counts,
            self.deadline.saturating_duration_since(Instant::now()),
        );
        let excused = self.moves.load(Ordering::SeqCst) > 0 || self.driver().is_ending();
        if !early.is_zero() && !excused {
            counts.fail(format!("woken early, by {early:?}"));
        }
        let wakes = self.wakes.fetch_add(1, Ordering::SeqCst);
        self.close();
        if wakes > self.moves.load(Ordering::SeqCst) {
            counts.fail("woken more than once for a deadline");
        }
        let deed = self.deed.lock().unwrap().take();
        if let Some(deed) = deed {
            self.act(deed);
        }
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.close();
        if self.must_be_woken.load(Ordering::SeqCst) && !self.is_woken() {
            self.shared.counts.fail("a timer fired and woke nobody");
        }
        self.shared.counts.witnesses.fetch_sub(1, Ordering::SeqCst);
    }
}
