//! A timer: the shard and the waker that it is registered with. This file has its states and polls
//! it; `timer/changes.rs` registers, resets and cancels it.
//!
//! # States
//!
//! | state | meaning | leaves by |
//! | --- | --- | --- |
//! | `Idle` | The timer is not registered. | poll, reset |
//! | `Registered` | The timer is in its shard's wheel. While `when` is after the shard's clock, `key` names the timer's entry. From then on the entry is the driver's, and the timer does not use `key` again. | poll, reset, drop |
//! | `Done` | The timer has fired, or was found due. It keeps the waker of the poll that was ready: if the task then resets the timer, it is woken, although it may not poll before. | reset, drop; after a shutdown of the driver, poll |
//! | `Tokios` | The driver has shut down, and a timer of tokio's own has taken over. | drop |
//!
//! # Ground rules
//!
//! * Polling again with the same waker takes no lock: it costs two loads and a comparison of
//!   wakers.
//! * Change the entry first and the alarm second: see "Never lost" in `alarm/mod.rs`.
//! * Drop wakers last, because that runs user code, which may panic.
//!
//! # After a shutdown of the driver
//!
//! All timers are woken. The next poll of each hands over to a timer of tokio's own, with the same
//! deadline, in the runtime of that poll. A poll outside any runtime panics with tokio's message. In a
//! runtime that shuts down, tokio's timer stays pending as long as tasks are polled there, and panics
//! after that. At the very end, tokio's own timer may be early. A runtime that shuts down sets a
//! mark, and then fires all of its timers. A poll checks for the mark first and polls the timer after
//! that, so if the runtime shuts down in between, the poll is ready, however far away the deadline
//! is. A second poll sees the mark, and panics.

mod changes;

use std::mem;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use tokio::runtime::Handle;
use tokio::task::coop;

use super::context::{self, ShardHandle};
use super::driver::DriverRef;
use super::shard::{EntryRef, Refused, Shard};
use super::wakers::{self, VtableId};
use crate::clock::Tick;
use crate::settings::Generation;

/// The driver's side of a `Sleep`.
pub(crate) struct Timer {
    shard: &'static Shard,
    state: State,
}

enum State {
    Idle {
        generation: Generation,
    },
    Registered {
        generation: Generation,
        key: u32,
        when: Tick,
        /// The data pointer of the waker that is registered, and its vtable. (Not of the waker that
        /// it was cloned from, whose memory may be another waker's by the next poll.)
        waker: usize,
        vtable: VtableId,
    },
    Done {
        generation: Generation,
        waker: Option<Waker>,
    },
    Tokios {
        generation: Generation,
        sleep: Pin<Box<tokio::time::Sleep>>,
    },
}

/// Making a timer. Nothing is registered.
impl Timer {
    /// A timer of this thread's driver.
    ///
    /// # Panics
    ///
    /// Panics outside a runtime, and in a runtime without timers, at the caller's line.
    #[inline]
    #[track_caller]
    pub(crate) fn new() -> Self {
        Timer::on(context::shard())
    }

    /// The same, made `now`. Checks for late timers in this shard, and for timers that will soon be
    /// due. So if a runtime makes timers all the time, they fire on time, however seldom tokio
    /// polls its own.
    #[inline]
    #[track_caller]
    pub(crate) fn new_at(now: Tick) -> Self {
        let here = context::shard();
        if here.0.is_due_soon(now) {
            return Timer::on(checked(here, now));
        }
        Timer::on(here)
    }

    /// A timer of a driver that is known.
    pub(crate) fn of_driver(driver: DriverRef) -> Self {
        Timer::on((context::shard_of(driver), driver.generation))
    }

    /// A timer on a shard that is known.
    #[inline]
    pub(super) fn on((shard, generation): ShardHandle) -> Self {
        let state = State::Idle { generation };
        Timer { shard, state }
    }
}

/// The same shard, after a check for late timers. Out of line, and before there is a timer, because
/// a timer that outlasts a call has to be in memory.
#[cold]
fn checked(here: ShardHandle, now: Tick) -> ShardHandle {
    here.0.driver.check_for_late(here.0, now);
    here
}

/// Polling.
impl Timer {
    /// Whether this is not registered, and the next poll registers it.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        matches!(self.state, State::Idle { .. })
    }

    /// Whether this is pending with this very waker, so that polling changes nothing.
    #[inline]
    pub(crate) fn is_pending_with(&self, polled_with: &Waker) -> bool {
        self.entry().is_some_and(|(entry, waker, vtable)| {
            self.shard.clock() < entry.when
                && waker == polled_with.data() as usize
                && wakers::is(polled_with, vtable)
                && !self.has_ended()
        })
    }

    /// Polls for `deadline`, which must be that of the last poll or reset if this is registered,
    /// unless this [is pending](Self::is_pending_with) with this very waker. Panics if the runtime
    /// has ended.
    ///
    /// Out of line, and everything below is inlined into it: users' futures contain one call.
    pub(crate) fn poll(&mut self, deadline: Tick, waker: &Waker) -> Poll<()> {
        let is_idle = matches!(self.state, State::Idle { .. });
        if !is_idle || deadline < self.shard.fast_path_from() {
            self.poll_slow(deadline, waker)
        } else if self.register_again(deadline, waker) {
            Poll::Pending
        } else {
            self.poll_first(deadline, waker)
        }
    }

    #[inline(never)]
    fn poll_first(&mut self, deadline: Tick, waker: &Waker) -> Poll<()> {
        if self.arm(self.shard, deadline, waker.clone()) {
            return Poll::Pending;
        }
        let registered = self.register_at(deadline, waker);
        self.polled(registered, deadline, waker)
    }

    #[inline(never)]
    fn poll_slow(&mut self, deadline: Tick, waker: &Waker) -> Poll<()> {
        if let State::Tokios { sleep, .. } = &mut self.state {
            return poll_tokios(sleep, waker);
        }
        let registered = match &self.state {
            State::Idle { .. } => self.register(deadline, waker),
            State::Registered { .. } => self.poll_registered(waker),
            // Unchanged: the waker of an earlier poll is kept.
            State::Done { .. } if !self.has_ended() => return Poll::Ready(()),
            _ended => Err(Refused::Closed),
        };
        self.polled(registered, deadline, waker)
    }

    fn polled(&mut self, result: Result<(), Refused>, deadline: Tick, waker: &Waker) -> Poll<()> {
        match result {
            Ok(()) => Poll::Pending,
            Err(Refused::Closed) => self.hand_over(deadline, waker),
            Err(Refused::Due) => {
                self.set_done();
                Poll::Ready(())
            }
        }
    }

    #[inline(never)]
    fn poll_registered(&mut self, waker: &Waker) -> Result<(), Refused> {
        let (entry, ..) = self.entry().ok_or(Refused::Closed)?;
        // Without the lock, and without a clone of the waker: most such timers have fired.
        self.shard.check(entry.generation, entry.when)?;
        let waker = waker.clone();
        let (data, vtable) = (waker.data() as usize, wakers::address(&waker));
        let old = self.shard.replace_waker(entry, waker)?;
        self.set_registered(entry.key, entry.when, data, wakers::id(vtable));
        drop(old);
        Ok(())
    }

    /// Keeps the waker of a poll that was ready, to be woken if the timer is reset.
    pub(crate) fn keep(&mut self, with: &Waker) {
        if let State::Done { waker, .. } = &mut self.state {
            waker.get_or_insert_with(|| with.clone()).clone_from(with);
        }
    }

    /// Whether the deadline was reached while this was registered.
    pub(crate) fn is_elapsed(&self) -> bool {
        match &self.state {
            State::Idle { .. } => false,
            State::Registered { when, .. } => self.shard.check(self.generation(), *when).is_err(),
            State::Done { .. } => true,
            State::Tokios { sleep, .. } => sleep.is_elapsed(),
        }
    }

    /// Hands over to a timer of tokio's own, and polls it.
    ///
    /// # Panics
    ///
    /// Panics if tokio's timer does, and in its words.
    #[cold]
    fn hand_over(&mut self, deadline: Tick, waker: &Waker) -> Poll<()> {
        if Handle::try_current().is_err() {
            panic!("A Tokio 1.x context was found, but it is being shutdown.");
        }
        let mut sleep = Box::pin(tokio::time::sleep_until(deadline.to_instant()));
        let polled = poll_tokios(&mut sleep, waker);
        let generation = self.generation();
        self.state = State::Tokios { generation, sleep };
        polled
    }
}

#[cold]
fn poll_tokios(sleep: &mut Pin<Box<tokio::time::Sleep>>, waker: &Waker) -> Poll<()> {
    let mut poll = || {
        let sleep = pin!(coop::unconstrained(sleep.as_mut()));
        sleep.poll(&mut Context::from_waker(waker))
    };
    let polled = poll();
    if polled.is_ready() {
        // Panics if the end of the runtime has fired the timer, so no timer is early.
        let _still_ready = poll();
    }
    polled
}

/// The state, and its changes.
impl Timer {
    #[inline]
    fn generation(&self) -> Generation {
        match self.state {
            State::Idle { generation }
            | State::Registered { generation, .. }
            | State::Done { generation, .. }
            | State::Tokios { generation, .. } => generation,
        }
    }

    #[inline]
    fn has_ended(&self) -> bool {
        !self.shard.is_open_in(self.generation())
    }

    /// If this is registered: its entry, and the waker's data pointer and vtable. Field by field,
    /// because memory that was just written in parts is slow to read as a whole.
    #[inline]
    fn entry(&self) -> Option<(EntryRef, usize, VtableId)> {
        let State::Registered {
            generation,
            key,
            when,
            waker,
            vtable,
        } = self.state
        else {
            return None;
        };
        let entry = EntryRef {
            key,
            generation,
            when,
        };
        Some((entry, waker, vtable))
    }

    /// Skips drop glue: the state before was `Idle` or `Registered`, which own nothing.
    #[inline(always)]
    fn overwrite(&mut self, next: State) {
        mem::forget(mem::replace(&mut self.state, next));
    }

    #[inline(always)]
    fn set_registered(&mut self, key: u32, when: Tick, waker: usize, vtable: VtableId) {
        let generation = self.generation();
        self.overwrite(State::Registered {
            generation,
            key,
            when,
            waker,
            vtable,
        });
    }

    #[inline(always)]
    fn set_idle(&mut self) {
        let generation = self.generation();
        self.overwrite(State::Idle { generation });
    }

    fn set_done(&mut self) {
        let (generation, waker) = (self.generation(), None);
        self.state = State::Done { generation, waker };
    }

    fn finish(&mut self, waker: Waker) {
        self.set_done();
        wakers::wake_all([waker]);
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
