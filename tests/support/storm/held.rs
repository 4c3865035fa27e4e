//! A timer that a hand polls, resets, passes on and drops, and its part of the counts.

use crate::prelude::*;

use std::time::Instant;

use super::life::Driver;
use super::shared::Shared;
use super::witness::{Deed, Witness};

/// A timer counts as lost if it has woken nothing this long after its deadline, nor in [`CHECKS`] checks after that.
/// Time alone does not prove it, because the whole process may be stopped.
const LOST: Duration = Duration::from_secs(60);
const CHECKS: u32 = 1000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Not polled yet, or reset after its end and not polled since.
    New,
    /// Polled, and pending.
    Armed,
    Over,
}

pub(crate) struct Held {
    shared: Arc<Shared>,
    driver: Arc<Driver>,
    sleep: Sleep,
    phase: Phase,
    /// The witness that was registered last.
    witness: Option<Arc<Witness>>,
    /// The witness that the sleep keeps after its end, to be woken after a reset.
    kept: Option<Arc<Witness>>,
    moved: bool,
    /// Whether the timer was polled in a runtime after its own had begun to end. It may then be a Tokio timer of that
    /// runtime, which no driver counts.
    polled_elsewhere: bool,
    overdue: u32,
}

impl Held {
    pub(crate) fn new(
        shared: &Arc<Shared>,
        driver: Arc<Driver>,
        duration: Duration,
        free: bool,
    ) -> Self {
        let sleep = driver.sleep(duration, free);
        Held {
            shared: shared.clone(),
            driver,
            sleep,
            phase: Phase::New,
            witness: None,
            kept: None,
            moved: false,
            polled_elsewhere: false,
            overdue: 0,
        }
    }

    fn deadline(&self) -> Instant {
        self.sleep.deadline().into_std()
    }

    /// Returns `true` if the timer, or its runtime, has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// Returns `true` if the witness of the last poll was woken.
    fn is_woken(&self) -> bool {
        let witness = self.witness.as_ref();
        witness.is_some_and(|witness| witness.is_woken())
    }

    /// Polls the timer if its witness has been woken.
    pub(crate) fn check(&mut self) {
        if self.is_woken() {
            return self.poll(None);
        }
        let late = Instant::now().saturating_duration_since(self.deadline());
        if self.phase == Phase::Armed && late > LOST {
            self.overdue += 1;
            if self.overdue == CHECKS {
                self.shared.counts.fail(format!("lost for {late:?}"));
            }
        }
    }

    /// Polls the timer with the witness of the last poll or, if that was woken, with another.
    pub(crate) fn poll(&mut self, deed: Option<Deed>) {
        let known = self.witness.clone().filter(|known| !known.is_woken());
        match known {
            Some(witness) => self.poll_with(&witness),
            None => self.poll_with_another(deed),
        }
    }

    pub(crate) fn poll_with_another(&mut self, deed: Option<Deed>) {
        // If a waker panics in a Tokio timer, Tokio's worker ends, and with it the process.
        let deed = deed.filter(|deed| !(self.polled_elsewhere && matches!(deed, Deed::Panic)));
        let witness = Witness::new(&self.shared, &self.driver, self.deadline(), deed);
        if self.moved {
            witness.move_deadline();
        }
        self.poll_with(&witness);
    }

    fn poll_with(&mut self, witness: &Arc<Witness>) {
        let was_woken = self.is_woken();
        let waker = Waker::from(witness.clone());
        // The witness may be woken twice: by the end of its driver, and by the timer's next driver.
        if self.driver.is_ending() && Handle::try_current().is_ok() {
            witness.move_deadline();
            self.polled_elsewhere = true;
        }
        if !self.polled_elsewhere {
            witness.open();
        }
        let mut polled = None;
        let panic = panic_of(|| polled = Some(poll(&mut self.sleep, &waker)));
        drop(waker);
        match polled {
            Some(Poll::Pending) => self.found_pending(witness, was_woken),
            Some(Poll::Ready(())) => self.found_ready(witness),
            None => self.found_ended(witness, &panic.expect("it panicked").message),
        }
    }

    /// Returns `true` if the timer's driver is ending, and the timer was polled inside a runtime. If that runtime is
    /// running, the timer continues there; if it is ending, the timer stays pending.
    fn continues_here(&mut self, witness: &Witness) -> bool {
        if !self.driver.is_ending() || Handle::try_current().is_err() {
            return false;
        }
        // A driver that has not quite ended may wake the witness once more. If its end began during the
        // poll, the timer may still belong to it.
        (self.moved, self.polled_elsewhere) = (true, true);
        witness.move_deadline();
        if let Some(here) = self.shared.driver_here() {
            witness.continue_with(&here);
            self.shared.counts.went_on.up();
            self.driver = here;
        }
        true
    }

    fn found_pending(&mut self, witness: &Arc<Witness>, was_woken: bool) {
        if !self.continues_here(witness) && was_woken && !self.moved {
            self.shared.counts.fail("woken, and then pending");
        }
        if self.phase != Phase::Armed {
            self.phase = Phase::Armed;
            self.shared.counts.armed.up();
        }
        let old = self.witness.replace(witness.clone());
        self.kept = None;
        if let Some(old) = old.filter(|old| !Arc::ptr_eq(old, witness)) {
            old.close();
        }
    }

    fn found_ready(&mut self, witness: &Arc<Witness>) {
        if Instant::now() < self.deadline() {
            self.shared.counts.fail("ready before its deadline");
        }
        if self.phase == Phase::Armed {
            self.shared.counts.fired.up();
        }
        self.end(witness);
    }

    fn found_ended(&mut self, witness: &Arc<Witness>, message: &str) {
        if message != SHUT_DOWN || !(self.driver.is_ending() || self.polled_elsewhere) {
            self.shared.counts.fail(format!("panicked: {message}"));
        }
        if self.phase == Phase::Armed {
            self.shared.counts.ended.up();
        }
        self.end(witness);
    }

    /// Notes that the timer is over. A registered witness was woken, or is about to be, unless the poll that was ready
    /// replaced it. The sleep keeps the witness of that poll, for a reset.
    fn end(&mut self, last: &Arc<Witness>) {
        if let Some(registered) = self.witness.take() {
            // After a reset, perhaps no witness was registered.
            if self.phase == Phase::Armed && !self.moved && Arc::ptr_eq(&registered, last) {
                registered.must_be_woken();
            }
            registered.close();
        }
        last.close();
        self.kept = Some(last.clone());
        self.phase = Phase::Over;
    }

    /// Resets the timer. At the new deadline, even an unpolled timer wakes its last witness, unless that was woken before.
    pub(crate) fn reset(&mut self, duration: Duration, poll: bool) {
        self.moved = true;
        for witness in self.witness.iter().chain(&self.kept) {
            witness.move_deadline();
        }
        self.shared.counts.reset.up();
        self.sleep.reset_unpin(wheel::Instant::now() + duration);
        self.overdue = 0;
        if self.phase == Phase::Over {
            self.phase = Phase::New;
        }
        if poll || self.phase == Phase::New {
            self.poll_with_another(None);
        } else {
            self.check();
        }
    }

    /// Arms a timer for other threads. A waker calls this.
    pub(crate) fn arm_for_others(shared: &Arc<Shared>, driver: &Arc<Driver>, duration: Duration) {
        let mut held = Held::new(shared, driver.clone(), duration, false);
        held.poll(None);
        shared.leave(held);
    }

    /// Does something to a timer that another thread left. A waker calls this.
    pub(crate) fn meddle(shared: &Arc<Shared>) {
        let mut random = Random::new(shared.counts.armed.get());
        let Some(mut held) = shared.take_any(&mut random) else {
            return;
        };
        match random.below(3) {
            0 => held.poll_with_another(None),
            1 => held.reset(Duration::from_micros(random.below(5000)), true),
            _ => return drop(held),
        }
        shared.leave(held);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.phase == Phase::Armed {
            self.shared.counts.cancelled.up();
        }
        if let Some(witness) = self.witness.take() {
            witness.close();
        }
    }
}
