//! Witnesses: wakers that are counted, some of which do things that wakers should not do.
//!
//! # Ground rules
//!
//! * A witness is registered with one timer, and is woken at most once for each deadline of that timer. After a wake-up,
//!   the timer's owner uses another witness.
//! * While a witness is registered, it is *open*, and its driver's gauge counts it. A wake-up closes it, as does the owner
//!   that replaces it, and the gauge no longer counts it. So the gauge is the number of timers that should be pending in
//!   the driver.
//! * If a witness's timer was ready or lost its runtime, the witness must have been woken before it is dropped.

use crate::prelude::*;

use std::sync::atomic::AtomicU32;
use std::time::Instant;

use super::held::Held;
use super::life::Driver;
use super::shared::Shared;

/// What a waker does when it is woken, besides counting.
pub(crate) enum Deed {
    Panic,
    /// Drops these timers. (A waker that is never woken drops them when it is dropped.)
    Drop(Vec<Held>),
    /// Arms another timer, and leaves it to other threads.
    Arm(Arc<Driver>, Duration),
    /// Polls, resets or drops a timer that another thread left.
    Meddle,
    /// Blocks the thread that wakes for this long.
    Block(Duration),
}

pub(crate) struct Witness {
    shared: Arc<Shared>,
    driver: Mutex<Arc<Driver>>,
    /// The instant before which this must not be woken.
    deadline: Instant,
    /// How often the deadline was moved, or the driver was found ending. Each time allows another wake-up.
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
            // `open` sets this before the witness can be woken.
            open: AtomicBool::new(false),
            wakes: AtomicU32::new(0),
            must_be_woken: AtomicBool::new(false),
            deed: Mutex::new(deed),
        })
    }

    /// Opens the witness. Call this before the poll that may register it.
    pub(crate) fn open(&self) {
        if !self.open.swap(true, Ordering::SeqCst) {
            self.driver().gauge.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn driver(&self) -> Arc<Driver> {
        self.driver.lock().unwrap().clone()
    }

    /// Notes that the timer continues as a Tokio timer in another driver's runtime, because its own driver has ended.
    pub(crate) fn continue_with(&self, driver: &Arc<Driver>) {
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
            // The panic hook does not report this panic.
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
