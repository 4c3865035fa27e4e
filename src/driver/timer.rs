//! A timer: the shard and the waker that the timer is registered with.
//!
//! # States
//!
//! | state | meaning | leaves by |
//! | --- | --- | --- |
//! | `Idle` | not registered | poll, reset |
//! | `Registered` | in its shard's wheel. While `when` is after the shard's clock, `key` names the timer's entry; from then on the entry is the driver's, and `key` is not used again | poll, reset, drop |
//! | `Done` | fired, or found due. Keeps the waker of the poll that was ready: a task that resets its timer then is woken, though the task may not poll before | reset, drop; after the driver's end, poll |
//! | `Fallback` | the driver has ended, and the runtime of the poll has ended or is about to. A timer of tokio's own takes over | poll, reset, drop |
//!
//! # Ground rules
//!
//! * Re-polling takes no lock: two loads, and the identity of the waker.
//! * First the entry, then the alarm: see "Never lost" in `alarm.rs`. An alarm that has to ring
//!   earlier is moved on this thread. (The driver task would wait in this worker's own queue, and
//!   all timers with that task if the worker then blocks.)
//! * Arming tries the timer's own shard for a moment, then takes any shard that is free.
//! * A timer whose driver has ended is woken, and polled. A timer of the free functions goes on,
//!   for the same deadline, in the runtime of that poll, if that lives. A runtime that ends may
//!   still run some tasks for a moment: there tokio's own timer takes over, which stays pending as
//!   long as such a runtime is driven, and panics after that. A poll outside of any runtime panics
//!   in tokio's words. A timer of a `Wheel` never goes on elsewhere.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::{iter, mem};

use tokio::runtime::Handle;
use tokio::task::coop;

use super::cancel_queue::EntryRef;
use super::clock::Tick;
use super::registry::{self, DriverTag};
use super::shard::{Refused, ShardState};
use super::sync::{LockGuard, back_off};
use super::wakers::{self, VtableId};
use super::{DriverRef, DriverShard, ShardRef, context};

/// How often the lock of a timer's own shard is tried again before another shard takes the timer: a
/// few times as long as a hold usually lasts. The timer then belongs to the other shard, also when
/// armed again.
const TRIES: usize = if cfg!(all(test, loom)) { 1 } else { 16 };

/// The driver's side of a `Sleep`.
pub(crate) struct Timer {
    shard: ShardRef,
    state: State,
}

enum State {
    Idle {
        tag: DriverTag,
    },
    Registered {
        tag: DriverTag,
        key: u32,
        when: Tick,
        /// The data pointer of the waker that is registered, and its vtable. (Not of the waker that
        /// this was cloned from, whose memory may be another waker's by the next poll.)
        waker: usize,
        vtable: VtableId,
    },
    Done {
        tag: DriverTag,
        waker: Option<Waker>,
    },
    Fallback {
        tag: DriverTag,
        sleep: Pin<Box<tokio::time::Sleep>>,
    },
}

/// Making a timer.
impl Timer {
    /// A timer of this thread's driver. Registers nothing.
    ///
    /// # Panics
    ///
    /// Without a runtime, or in a runtime without timers, at the caller's line.
    #[inline]
    #[track_caller]
    pub(crate) fn new() -> Self {
        Timer::on(context::shard())
    }

    /// The same, `now`. Checks for overdue timers in this shard, and for timers that soon will be
    /// due: a runtime that makes timers all the time has them fire on time, however seldom tokio's
    /// timers are looked at.
    #[inline]
    #[track_caller]
    pub(crate) fn new_at(now: Tick) -> Self {
        let here = context::shard();
        Timer::on(match here.0.shard.is_due_soon(now) {
            true => checked(here, now),
            false => here,
        })
    }

    /// A timer of the free functions on a shard that is known.
    #[inline]
    pub(super) fn on((shard, generation): (ShardRef, u32)) -> Self {
        let tag = DriverTag::new(generation, false);
        let state = State::Idle { tag };
        Timer { shard, state }
    }

    /// A timer of a `Wheel`.
    pub(crate) fn of(driver: DriverRef) -> Self {
        let tag = DriverTag::new(driver.generation, true);
        let (shard, state) = (context::of(driver), State::Idle { tag });
        Timer { shard, state }
    }
}

/// The shard for a timer that is made `now`, after a check for overdue timers. Out of line, and
/// before there is a timer: a timer that outlasts a call has to be in memory.
#[cold]
fn checked(here: (ShardRef, u32), now: Tick) -> (ShardRef, u32) {
    here.0.driver.check_for_overdue(&here.0.shard, now);
    here
}

/// Polling.
impl Timer {
    /// Whether this is pending with this very waker, so that polling changes nothing.
    #[inline]
    pub(crate) fn waits(&self, with: &Waker) -> bool {
        self.entry().is_some_and(|(entry, waker, vtable)| {
            self.clock() < entry.when
                && waker == with.data() as usize
                && wakers::is(with, vtable)
                && !self.has_ended()
        })
    }

    /// Polls for `deadline`, which must be that of the last poll or reset if this is registered,
    /// and if this does not [wait](Self::waits) with this very waker. Panics when the runtime has
    /// ended.
    ///
    /// Out of line, where everything below is inlined: users' futures get a call.
    pub(crate) fn poll(&mut self, deadline: Tick, waker: &Waker) -> Poll<()> {
        let is_idle = matches!(self.state, State::Idle { .. });
        if !is_idle || deadline < self.shard.shard.plain_from() {
            self.poll_otherwise(deadline, waker)
        } else if self.register_again(deadline, waker) {
            Poll::Pending
        } else {
            self.poll_plain(deadline, waker)
        }
    }

    #[inline(never)]
    fn poll_plain(&mut self, deadline: Tick, waker: &Waker) -> Poll<()> {
        let registered = self.register_at(deadline, waker);
        self.polled(registered, deadline, waker)
    }

    #[inline(never)]
    fn poll_otherwise(&mut self, deadline: Tick, waker: &Waker) -> Poll<()> {
        let registered = match &self.state {
            State::Idle { .. } => self.register(deadline, waker),
            State::Registered { .. } => self.poll_registered(waker),
            // Unchanged: the waker of an earlier poll is kept.
            State::Done { .. } if !self.has_ended() => return Poll::Ready(()),
            _ended => Err(Refused::Closed),
        };
        self.polled(registered, deadline, waker)
    }

    #[inline]
    fn polled(
        &mut self,
        registered: Result<(), Refused>,
        deadline: Tick,
        waker: &Waker,
    ) -> Poll<()> {
        match registered {
            Ok(()) => Poll::Pending,
            Err(refused) => self.poll_refused(refused, deadline, waker),
        }
    }

    #[inline(never)]
    fn poll_refused(&mut self, refused: Refused, deadline: Tick, waker: &Waker) -> Poll<()> {
        match refused {
            Refused::Closed => self.poll_after_the_end(deadline, waker),
            Refused::Due => {
                self.set_done();
                Poll::Ready(())
            }
        }
    }

    #[inline(never)]
    fn poll_registered(&mut self, waker: &Waker) -> Result<(), Refused> {
        let (entry, ..) = self.entry().ok_or(Refused::Closed)?;
        let shard = &self.shard.shard;
        // Without the lock, and without a clone of the waker: most such timers have fired.
        shard.check(entry.generation(), entry.when)?;
        let waker = waker.clone();
        let (data, vtable) = (waker.data() as usize, wakers::address(&waker));
        let old = shard.replace_waker(entry, waker)?;
        self.registered(entry.key(), entry.when, data, wakers::id(vtable));
        // Last: drop runs user code and may panic.
        drop(old);
        Ok(())
    }

    /// Keeps the waker that a timer which is done was polled with, to be woken if the timer is
    /// reset.
    pub(crate) fn keep(&mut self, with: &Waker) {
        if let State::Done { waker, .. } = &mut self.state {
            waker.get_or_insert_with(|| with.clone()).clone_from(with);
        }
    }

    /// Whether the deadline was reached while this was registered.
    pub(crate) fn is_elapsed(&self) -> bool {
        match &self.state {
            State::Idle { .. } => false,
            State::Registered { when, .. } => {
                self.shard.shard.check(self.generation(), *when).is_err()
            }
            State::Done { .. } => true,
            State::Fallback { sleep, .. } => sleep.is_elapsed(),
        }
    }
}

/// Registering: in the timer's shard, or in another if that is busy.
impl Timer {
    /// Registers in the place of the timer that this task has cancelled last.
    #[inline(always)]
    fn register_again(&mut self, deadline: Tick, waker: &Waker) -> bool {
        let shard = &self.shard.shard;
        if !context::has_left(waker) {
            return false;
        }
        let Some(key) = shard.arm_again(self.generation(), deadline, waker) else {
            return false;
        };
        let data = waker.data() as usize;
        self.registered(key, deadline, data, wakers::OF_TASKS);
        true
    }

    /// Changes a state that owns neither a waker nor tokio's timer: there is nothing to be dropped.
    #[inline(always)]
    fn forget_for(&mut self, next: State) {
        mem::forget(mem::replace(&mut self.state, next));
    }

    /// Refused as due when the deadline has passed.
    fn register(&mut self, deadline: Tick, waker: &Waker) -> Result<(), Refused> {
        match self.when(deadline) {
            Some(when) => self.register_at(when, waker),
            // Due, unless the driver has ended.
            None => self.shard.shard.check(self.generation(), Tick::ZERO),
        }
    }

    #[inline(always)]
    fn register_at(&mut self, when: Tick, waker: &Waker) -> Result<(), Refused> {
        match self.arm(self.shard, when, waker.clone()) {
            true => Ok(()),
            false => self.register_refused(when, waker),
        }
    }

    /// Registers in a shard, unless that is busy or refuses.
    #[inline(always)]
    fn arm(&mut self, home: ShardRef, when: Tick, waker: Waker) -> bool {
        let (data, vtable) = (waker.data() as usize, wakers::address(&waker));
        let Some((key, left)) = home.shard.arm(self.generation(), when, waker) else {
            return false;
        };
        self.shard = home;
        self.registered(key, when, data, wakers::id(vtable));
        self.ring_by(when);
        wakers::discard(left);
        true
    }

    /// The shard is busy, or the driver has ended, or the shard's clock passed `when` before the
    /// lock was taken: in that case the timer may wait for tokio's millisecond.
    #[cold]
    fn register_refused(&mut self, when: Tick, waker: &Waker) -> Result<(), Refused> {
        let registered = self.register_anywhere(when, waker);
        if !matches!(registered, Err(Refused::Due)) {
            return registered;
        }
        match self.when_near(when) {
            Some(later) if later > when => self.register_at(later, waker),
            _ => registered,
        }
    }

    /// In another shard if the timer's own stays busy.
    fn register_anywhere(&mut self, when: Tick, waker: &Waker) -> Result<(), Refused> {
        let (own, generation) = (self.shard, self.generation());
        let mut tries = 0;
        loop {
            for shard in iter::repeat_n(own, TRIES).chain(own.others()) {
                if self.arm(shard, when, waker.clone()) {
                    return Ok(());
                }
                own.shard.check(generation, when)?;
                std::hint::spin_loop();
            }
            back_off(tries);
            tries += TRIES as u32;
        }
    }

    /// After the entry has its deadline: see "Never lost" in `alarm.rs`.
    #[inline(always)]
    fn ring_by(&self, when: Tick) {
        let DriverShard { shard, driver, .. } = self.shard;
        if when < shard.plain_from() {
            driver.ring_by(when);
        }
    }

    /// Changes a state that owns nothing.
    #[inline(always)]
    fn registered(&mut self, key: u32, when: Tick, waker: usize, vtable: VtableId) {
        self.forget_for(State::Registered {
            tag: self.tag(),
            key,
            when,
            waker,
            vtable,
        });
    }
}

/// Putting off, and cancelling.
impl Timer {
    /// Moves the timer to another deadline, which need not be polled for: the waker is kept.
    pub(crate) fn reset(&mut self, deadline: Tick) {
        if !self.put_off(deadline) {
            self.reset_otherwise(deadline);
        }
    }

    #[inline(always)]
    fn put_off(&mut self, deadline: Tick) -> bool {
        let Some((entry, ..)) = self.entry() else {
            return false;
        };
        let shard = &self.shard.shard;
        if deadline < shard.plain_from() || !shard.put_off(entry, deadline) {
            return false;
        }
        self.set_when(deadline);
        true
    }

    #[inline]
    fn set_when(&mut self, deadline: Tick) {
        if let State::Registered { when, .. } = &mut self.state {
            *when = deadline;
        }
    }

    #[inline(never)]
    fn reset_otherwise(&mut self, deadline: Tick) {
        let Some((entry, ..)) = self.entry() else {
            return self.reset_unregistered(deadline);
        };
        // Already due: `Tick::ZERO` fires immediately.
        let when = self.when(deadline).unwrap_or(Tick::ZERO);
        match self.shard.shard.reschedule(entry, when) {
            Ok(None) => {
                self.set_when(when);
                retract(self.shard);
                self.ring_by(when);
            }
            Ok(Some(waker)) => {
                retract(self.shard);
                self.finish(waker);
            }
            // No longer registered: fired, or the driver has ended.
            Err(_refused) => self.reset_unregistered(deadline),
        }
    }

    /// Registers without being polled. As with tokio, a timer that is reset elapses without a poll,
    /// and wakes the task of its last poll.
    #[cold]
    fn reset_unregistered(&mut self, deadline: Tick) {
        let kept = match &mut self.state {
            State::Fallback { sleep, .. } => return sleep.as_mut().reset(deadline.to_instant()),
            State::Done { waker, .. } => waker.take(),
            _ => None,
        };
        let waker = kept.unwrap_or_else(|| Waker::noop().clone());
        if self.register(deadline, &waker).is_err() {
            self.finish(waker);
        }
    }

    /// Unregisters the timer; the next poll registers it again.
    pub(crate) fn cancel(&mut self) {
        match self.state {
            State::Registered { .. } => self.unregister(),
            _ => self.state = State::Idle { tag: self.tag() },
        }
    }

    #[inline(never)]
    fn unregister(&mut self) {
        let home = self.shard;
        let state = context::is_here(home).then(|| home.shard.try_lock());
        let Some(Some(mut state)) = state else {
            return self.cancel_elsewhere();
        };
        match self.entry() {
            Some((entry, waker, wakers::OF_TASKS)) if home.shard.leave(&mut state, entry) => {
                context::set_left(waker);
                self.set_idle();
            }
            _ => self.cancel_in(state),
        }
    }

    /// Changes a state that owns nothing.
    #[inline(always)]
    fn set_idle(&mut self) {
        let tag = self.tag();
        self.forget_for(State::Idle { tag });
    }

    /// On another worker, and where the shard is busy, by the queue. A waker that is no task's is
    /// dropped at once.
    #[inline(never)]
    fn cancel_elsewhere(&mut self) {
        let home = self.shard;
        match self.entry() {
            Some((entry, ..)) if home.shard.clock() >= entry.when => self.set_idle(),
            Some((entry, _, wakers::OF_TASKS)) => {
                self.set_idle();
                home.shard.cancel_later(entry);
                retract(home);
            }
            _ => self.cancel_in(home.shard.wait()),
        }
    }

    #[inline(never)]
    fn cancel_in(&mut self, state: LockGuard<'_, ShardState>) {
        let home = self.shard;
        let Some((entry, ..)) = self.entry() else {
            return;
        };
        self.set_idle();
        let waker = home.shard.cancel(state, entry);
        retract(home);
        // Last: drop runs user code and may panic.
        drop(waker);
    }
}

/// Where the clock may be paused, the alarm must not stay armed for a timer that is gone.
#[inline(always)]
fn retract(home: ShardRef) {
    if home.shard.plain_from() == Tick::NEVER {
        home.driver.retract(&home.shard);
    }
}

/// After the driver's end.
impl Timer {
    /// # Panics
    ///
    /// Where tokio's timer does, and in its words.
    #[cold]
    fn poll_after_the_end(&mut self, deadline: Tick, waker: &Waker) -> Poll<()> {
        let Ok(handle) = Handle::try_current() else {
            shut_down()
        };
        let driver = registry::of(&handle);
        if !driver.is_open() {
            return self.poll_fallback(deadline, waker);
        }
        if self.tag().is_of_a_wheel() {
            shut_down()
        }
        *self = Timer::on((context::of(driver), driver.generation));
        // If that driver ends meanwhile, the poll finds so.
        self.poll(deadline, waker)
    }

    /// Hands over to a timer of tokio's own: in a runtime that ends, both behave alike.
    fn poll_fallback(&mut self, deadline: Tick, waker: &Waker) -> Poll<()> {
        let tag = self.tag();
        if !matches!(self.state, State::Fallback { .. }) {
            let sleep = Box::pin(tokio::time::sleep_until(deadline.to_instant()));
            self.state = State::Fallback { tag, sleep };
        }
        let State::Fallback { sleep, .. } = &mut self.state else {
            return Poll::Pending;
        };
        let mut sleep = coop::unconstrained(sleep.as_mut());
        let polled = Pin::new(&mut sleep).poll(&mut Context::from_waker(waker));
        if polled.is_ready() {
            self.set_done();
        }
        polled
    }
}

/// In tokio's words.
fn shut_down() -> ! {
    panic!("A Tokio 1.x context was found, but it is being shutdown.")
}

/// Common to all states.
impl Timer {
    #[inline]
    fn tag(&self) -> DriverTag {
        match self.state {
            State::Idle { tag }
            | State::Registered { tag, .. }
            | State::Done { tag, .. }
            | State::Fallback { tag, .. } => tag,
        }
    }

    /// If this is registered: its entry, and the waker's data pointer and vtable. Field by field:
    /// memory that was just written in parts is slow to read as a whole.
    #[inline]
    fn entry(&self) -> Option<(EntryRef, usize, VtableId)> {
        let State::Registered {
            tag,
            key,
            when,
            waker,
            vtable,
        } = self.state
        else {
            return None;
        };
        let entry = EntryRef::new(key, tag.generation(), when);
        Some((entry, waker, vtable))
    }

    fn set_done(&mut self) {
        let (tag, waker) = (self.tag(), None);
        self.state = State::Done { tag, waker };
    }

    fn finish(&mut self, waker: Waker) {
        self.set_done();
        wakers::wake(waker);
    }

    #[inline]
    fn generation(&self) -> u32 {
        self.tag().generation()
    }

    #[inline]
    fn clock(&self) -> Tick {
        self.shard.shard.clock()
    }

    /// When a timer with this deadline fires; `None` if due already.
    fn when(&self, deadline: Tick) -> Option<Tick> {
        match deadline >= self.shard.shard.plain_from() {
            true => Some(deadline),
            false => self.when_near(deadline),
        }
    }

    fn when_near(&self, deadline: Tick) -> Option<Tick> {
        self.shard.driver.when_near(deadline, self.clock())
    }

    #[inline]
    fn has_ended(&self) -> bool {
        !self.shard.shard.serves(self.generation())
    }
}

impl Drop for Timer {
    #[inline]
    fn drop(&mut self) {
        // A timer that was never needed is dropped without a call.
        if matches!(self.state, State::Registered { .. }) {
            self.unregister();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
