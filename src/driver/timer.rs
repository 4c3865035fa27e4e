//! One timer: where it is registered, and with which waker.
//!
//! # States
//!
//! | `key` | meaning | invariant | leaves by |
//! | --- | --- | --- | --- |
//! | [`ASSUMED`] | not registered; its shard was found by task id | | first poll, which checks that |
//! | [`UNVOUCHED`] | not registered; its task's waker may vouch for the task | | poll, reset |
//! | [`IDLE`] | not registered | | poll, reset |
//! | any other | registered | while `when` is after the shard's clock, `key` names our entry; from then on the entry is the driver's, and `key` is not used again | poll, reset, drop |
//! | [`DONE`] | fired, or found due | `when` is [`NOTHING_KEPT`], or the key of the waker that `home` keeps for a reset: the shard of the thread that has seen it done | reset, drop |
//!
//! A timer knows its driver's generation; when the driver has ended, polling it
//! panics with tokio's words (but in a task that ends with it, see [`ended`]),
//! dropping and resetting it do nothing.
//!
//! # Ground rules
//!
//! * Re-polling takes no lock: two loads, and the identity of the waker.

mod register;

use std::task::{Poll, Waker};

use self::register::ShutDown;
use super::Home;
use super::clock::Tick;
use super::foreign;
use super::local::{self, Certainty, Found};
use super::mail::Letter;
use super::registry::{self, Serving};
use super::shard::Changed;
use super::spare;
use super::vtable::{self, VtableId};

const ASSUMED: u32 = u32::MAX;
const IDLE: u32 = u32::MAX - 1;
const UNVOUCHED: u32 = u32::MAX - 2;
const DONE: u32 = u32::MAX - 3;
/// In the state [`DONE`]: there is no waker to be woken after a reset.
const NOTHING_KEPT: Tick = Tick::NEVER;

/// The driver's side of a `Sleep`.
pub(crate) struct Timer {
    home: &'static Home,
    /// The deadline that is registered.
    when: Tick,
    /// The data pointer of the waker that is registered; in the state
    /// [`ASSUMED`], of one that vouches for the shard.
    waker: usize,
    key: u32,
    /// The driver's generation, 24 bits, and the waker's vtable, 8 bits.
    tags: u32,
}

impl Timer {
    /// A timer of the current runtime's driver. Registers nothing.
    ///
    /// # Panics
    ///
    /// Without a runtime, or in one without timers, at the caller's line.
    #[inline]
    #[track_caller]
    pub(crate) fn new() -> Self {
        Timer::at(local::current())
    }

    /// A timer of a driver that is known.
    pub(crate) fn of(serving: Serving) -> Self {
        let home = local::home_in(serving);
        Timer::at(Found {
            home,
            generation: serving.generation,
            certainty: Certainty::Known,
        })
    }

    /// A timer of a shard that is known.
    #[inline]
    pub(super) fn at(found: Found) -> Self {
        let (key, waker) = match found.certainty {
            Certainty::Known => (IDLE, 0),
            Certainty::Unvouched => (UNVOUCHED, 0),
            Certainty::Assumed { voucher } => (ASSUMED, voucher),
        };
        Timer {
            home: found.home,
            when: Tick::ZERO,
            waker,
            key,
            tags: found.generation << 8,
        }
    }

    /// Whether the deadline was reached while this was registered.
    pub(crate) fn is_elapsed(&self) -> bool {
        match self.key {
            ASSUMED | UNVOUCHED | IDLE => false,
            DONE => true,
            _ => self.clock() >= self.when || self.has_ended(),
        }
    }

    /// Whether it is pending with this very waker, so that polling changes nothing.
    #[inline]
    pub(crate) fn waits(&self, waker: &Waker) -> bool {
        self.is_registered() && self.clock() < self.when && self.knows(waker) && !self.has_ended()
    }

    /// Polls for `deadline`, which must be the one given before if registered.
    ///
    /// # Panics
    ///
    /// When the runtime has ended.
    #[inline]
    pub(crate) fn poll(&mut self, deadline: Tick, waker: &Waker) -> Poll<()> {
        if self.is_registered() {
            self.poll_registered(waker)
        } else if self.key == DONE {
            if self.has_ended() {
                return ended(waker);
            }
            Poll::Ready(())
        } else {
            self.poll_first(deadline, waker)
        }
    }

    /// Moves the timer to another deadline, which need not be polled for: the
    /// waker is kept.
    pub(crate) fn reset(&mut self, deadline: Tick) {
        let deadline = self.round_up(deadline);
        if !self.is_registered() {
            return self.register_unpolled(deadline);
        }
        let now = self.now_if_early(deadline);
        if now.is_some_and(|now| deadline <= now) {
            return self.expire_now();
        }
        let before = self.when;
        let (generation, key) = (self.generation(), self.key);
        match self
            .home
            .shard
            .reschedule(generation, key, before, deadline)
        {
            Changed::Fired => self.register_unpolled(deadline),
            Changed::Closed => self.set_done(),
            Changed::Made(Some(waker)) => self.finish(waker),
            Changed::Made(None) => self.moved(deadline),
        }
    }

    /// Unregisters the timer; it is registered again when it is next polled.
    #[inline(never)]
    pub(crate) fn cancel(&mut self) {
        if self.is_registered() {
            let (key, when) = (self.key, self.when);
            self.key = IDLE;
            if self.clock() < when {
                self.cancel_entry(key, when);
            }
        } else if self.key == DONE {
            self.key = IDLE;
            drop(self.release());
        }
    }

    #[inline]
    fn cancel_entry(&self, key: u32, when: Tick) {
        let Home { shard, driver, .. } = self.home;
        let takes_back = driver.takes_back();
        if !takes_back && self.leave(key, when) {
            return;
        }
        if !shard.cancel(self.generation(), key, when) {
            driver.ask_for_turn();
        }
        if takes_back {
            driver.take_back(shard);
        }
    }

    /// Leaves the entry to this thread's next timer; see `spare.rs`.
    #[inline]
    fn leave(&self, key: u32, when: Tick) -> bool {
        let Some(spare) = spare::mine(&self.home.shard) else {
            return false;
        };
        let timer = Letter {
            key,
            when,
            generation: self.generation(),
        };
        vtable::is_that_of_tasks(self.vtable()) && spare.leave(timer, self.waker)
    }

    #[inline]
    fn poll_registered(&mut self, waker: &Waker) -> Poll<()> {
        let clock = self.clock();
        if self.has_ended() {
            ended(waker)
        } else if clock >= self.when {
            self.set_done();
            Poll::Ready(())
        } else if self.knows(waker) {
            Poll::Pending
        } else {
            self.poll_with_another(waker)
        }
    }

    #[cold]
    fn poll_with_another(&mut self, waker: &Waker) -> Poll<()> {
        let (generation, key) = (self.generation(), self.key);
        match self
            .home
            .shard
            .replace_waker(generation, key, self.when, waker.clone())
        {
            Changed::Made(_old) => {
                self.remember(waker);
                Poll::Pending
            }
            Changed::Fired => {
                self.set_done();
                Poll::Ready(())
            }
            Changed::Closed => ended(waker),
        }
    }

    /// Out of line, where everything below is inlined: users' futures get a call.
    fn poll_first(&mut self, deadline: Tick, waker: &Waker) -> Poll<()> {
        if self.key == ASSUMED && self.waker != waker.data() as usize {
            self.check_home(Some(waker));
        } else if self.key == UNVOUCHED {
            local::vouch(self.found(), waker);
        }
        let deadline = self.round_up(deadline);
        if self.reuse(deadline, waker) {
            return Poll::Pending;
        }
        match self.register(deadline, waker.clone()) {
            Poll::Ready(None) => {
                self.set_done();
                Poll::Ready(())
            }
            Poll::Ready(Some(ShutDown)) => ended(waker),
            Poll::Pending => Poll::Pending,
        }
    }

    /// Checks that the task id told the truth; see `local.rs`.
    #[cold]
    fn check_home(&mut self, waker: Option<&Waker>) {
        let really = local::check(self.found(), waker);
        self.home = really.home;
        self.tags = really.generation << 8;
        self.key = IDLE;
    }

    fn found(&self) -> Found {
        Found {
            home: self.home,
            generation: self.generation(),
            certainty: Certainty::Known,
        }
    }

    /// Registers without being polled. As tokio's, a timer that is reset elapses
    /// though nobody polls it, and wakes the task that last did.
    #[cold]
    fn register_unpolled(&mut self, deadline: Tick) {
        if self.key == ASSUMED {
            self.check_home(None);
        }
        let kept = if self.key == DONE {
            self.release()
        } else {
            None
        };
        let waker = kept.unwrap_or_else(|| Waker::noop().clone());
        if self.register(deadline, waker.clone()).is_ready() {
            self.finish(waker);
        }
    }

    fn moved(&mut self, deadline: Tick) {
        let Home { shard, driver, .. } = self.home;
        self.when = deadline;
        if driver.takes_back() {
            driver.take_back(shard);
        }
        self.see_to_alarm(deadline);
    }

    /// Reset to a time that has passed: fires on the spot.
    #[cold]
    fn expire_now(&mut self) {
        let waker = self
            .home
            .shard
            .withdraw(self.generation(), self.key, self.when);
        self.set_done();
        let Home { shard, driver, .. } = self.home;
        if driver.takes_back() {
            driver.take_back(shard);
        }
        if let Some(waker) = waker {
            foreign::wake(waker);
        }
    }

    #[inline]
    fn set_done(&mut self) {
        self.key = DONE;
        self.when = NOTHING_KEPT;
    }

    /// Keeps the waker that a timer which is done was polled with, to be woken
    /// if it is reset.
    pub(crate) fn keep(&mut self, waker: &Waker) {
        if self.key != DONE || (self.when != NOTHING_KEPT && self.knows(waker)) {
            return;
        }
        drop(self.release());
        // Nobody looks for one that is done in the shard where it was: others may be
        // at work there, while this thread's own is in its cache.
        self.home = local::own(self.home);
        let kept = self.home.shard.keep(self.generation(), waker.clone());
        if let Some(key) = kept {
            self.remember(waker);
            self.when = Tick(u64::from(key));
        }
    }

    /// The waker that was kept.
    fn release(&mut self) -> Option<Waker> {
        let kept = u32::try_from(self.when.0).ok()?;
        self.when = NOTHING_KEPT;
        self.home.shard.release(self.generation(), kept)
    }

    fn finish(&mut self, waker: Waker) {
        self.set_done();
        foreign::wake(waker);
    }

    /// Now, for a deadline that is earlier than what the alarm is armed for, and
    /// as far as can be said here: elsewhere than in the driver's own runtime the
    /// clock may be another one.
    #[inline]
    fn now_if_early(&self, deadline: Tick) -> Option<Tick> {
        let driver = self.home.driver;
        if deadline < driver.planned() {
            driver.now_at_home()
        } else {
            None
        }
    }

    #[inline]
    fn round_up(&self, deadline: Tick) -> Tick {
        self.home.driver.settings().round_up(deadline)
    }

    #[inline]
    fn is_registered(&self) -> bool {
        self.key < DONE
    }

    #[inline]
    fn clock(&self) -> Tick {
        self.home.shard.clock()
    }

    #[inline]
    fn generation(&self) -> u32 {
        self.tags >> 8
    }

    #[inline]
    fn has_ended(&self) -> bool {
        !self.home.shard.serves(self.generation())
    }

    #[inline]
    fn remember(&mut self, waker: &Waker) {
        self.waker = waker.data() as usize;
        self.tags = self.tags & !0xff | u32::from(vtable::id(waker).0);
    }

    /// Whether `waker` is the one that is registered: `will_wake`, without it.
    #[inline]
    fn knows(&self, waker: &Waker) -> bool {
        self.waker == waker.data() as usize && vtable::is(waker, self.vtable())
    }

    #[inline]
    fn vtable(&self) -> VtableId {
        VtableId((self.tags & 0xff) as u8)
    }
}

impl Drop for Timer {
    #[inline]
    fn drop(&mut self) {
        // One that was never needed is dropped without a call.
        if self.is_registered() || self.key == DONE {
            self.cancel();
        }
    }
}

/// Polled when the driver has ended.
///
/// While one worker ends the driver, another may be in the middle of a task: that
/// is left pending, to be dropped with all others in a moment. tokio's timers end
/// only after the tasks.
///
/// # Panics
///
/// Everywhere else.
#[cold]
fn ended(waker: &Waker) -> Poll<()> {
    if vtable::is_of_a_task(waker) && registry::is_runtime_ending() {
        return Poll::Pending;
    }
    panic!("A Tokio 1.x context was found, but it is being shutdown.")
}
