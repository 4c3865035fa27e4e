//! A timer: the shard and the waker that the timer is registered with.
//!
//! # States
//!
//! | state | meaning | leaves by |
//! | --- | --- | --- |
//! | `Idle` | not registered | poll, reset |
//! | `Registered` | in its shard's wheel. While `when` is after the shard's clock, `key` names the timer's entry; from then on the entry is the driver's, and `key` is not used again | poll, reset, drop |
//! | `Done` | fired, or found due. Keeps the waker of the poll that was ready: a task that resets its timer then is woken, though the task may not poll before | reset, drop; after the driver's end, poll |
//! | `Tokios` | the driver has ended. A timer of tokio's own has taken over | reset, drop |
//!
//! This file makes and polls timers. `register.rs` puts a timer into a wheel, `cancel.rs` moves it and
//! takes it out, and `ended.rs` has what happens after the driver's end.
//!
//! # Ground rules
//!
//! * Polling again takes no lock: two loads, and the identity of the waker.
//! * First the entry, then the alarm: see "Never lost" in `alarm/mod.rs`. A thread whose timer is the
//!   earliest moves the alarm itself. (The driver task would wait in this worker's own queue, and
//!   all timers with that task if the worker then blocks.)
//! * Drop of a waker comes last: it runs user code, and may panic.

mod cancel;
mod ended;
mod register;

use std::mem;
use std::pin::Pin;
use std::task::{Poll, Waker};

use super::context::{self, Found};
use super::driver::{DriverRef, ShardRef};
use super::shard::{EntryRef, Refused};
use super::wakers::{self, VtableId};
use crate::clock::Tick;
use crate::settings::Generation;

/// The driver's side of a `Sleep`.
pub(crate) struct Timer {
    home: ShardRef,
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
        /// this was cloned from, whose memory may be another waker's by the next poll.)
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
    /// Without a runtime, or in a runtime without timers, at the caller's line.
    #[inline]
    #[track_caller]
    pub(crate) fn new() -> Self {
        Timer::on(context::shard())
    }

    /// The same, `now`. Checks for late timers in this shard, and for timers that soon will be
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

    /// A timer of a driver that is known.
    pub(crate) fn of_driver(driver: DriverRef) -> Self {
        Timer::on((context::shard_of(driver), driver.generation))
    }

    /// A timer on a shard that is known.
    #[inline]
    pub(super) fn on((home, generation): Found) -> Self {
        let state = State::Idle { generation };
        Timer { home, state }
    }
}

/// The shard for a timer that is made `now`, after a check for late timers. Out of line, and before there is
/// a timer: a timer that outlasts a call has to be in memory.
#[cold]
fn checked(here: Found, now: Tick) -> Found {
    here.0.driver.check_for_late(&here.0.shard, now);
    here
}

/// Polling.
impl Timer {
    /// Whether this is pending with this very waker, so that polling changes nothing.
    #[inline]
    pub(crate) fn waits(&self, with: &Waker) -> bool {
        self.entry().is_some_and(|(entry, waker, vtable)| {
            self.home.shard.clock() < entry.when
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
        if !is_idle || deadline < self.home.shard.plain_from() {
            self.poll_otherwise(deadline, waker)
        } else if self.register_again(deadline, waker) {
            Poll::Pending
        } else {
            self.poll_plain(deadline, waker)
        }
    }

    #[inline(never)]
    fn poll_plain(&mut self, deadline: Tick, waker: &Waker) -> Poll<()> {
        if self.arm(self.home, deadline, waker.clone()) {
            return Poll::Pending;
        }
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
            State::Done { .. } => Err(Refused::Closed),
            State::Tokios { .. } => return self.poll_tokios(waker),
        };
        self.polled(registered, deadline, waker)
    }

    fn polled(&mut self, result: Result<(), Refused>, deadline: Tick, waker: &Waker) -> Poll<()> {
        match result {
            Ok(()) => Poll::Pending,
            Err(Refused::Closed) => {
                self.hand_over(deadline);
                self.poll_tokios(waker)
            }
            Err(Refused::Due) => {
                self.set_done();
                Poll::Ready(())
            }
        }
    }

    #[inline(never)]
    fn poll_registered(&mut self, waker: &Waker) -> Result<(), Refused> {
        let (entry, ..) = self.entry().ok_or(Refused::Closed)?;
        let shard = &self.home.shard;
        // Without the lock, and without a clone of the waker: most such timers have fired.
        shard.check(entry.generation, entry.when)?;
        let waker = waker.clone();
        let (data, vtable) = (waker.data() as usize, wakers::address(&waker));
        match shard.replace_waker(entry, waker) {
            Ok(old) => {
                let old = old?;
                self.set_registered(entry.key, entry.when, data, wakers::id(vtable));
                drop(old);
                Ok(())
            }
            // Busy: the entry with the old waker goes, and the timer takes any shard.
            Err(waker) => {
                self.unregister();
                self.register_at(entry.when, &waker)
            }
        }
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
                self.home.shard.check(self.generation(), *when).is_err()
            }
            State::Done { .. } => true,
            State::Tokios { sleep, .. } => sleep.is_elapsed(),
        }
    }
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
        !self.home.shard.serves(self.generation())
    }

    /// If this is registered: its entry, and the waker's data pointer and vtable. Field by field:
    /// memory that was just written in parts is slow to read as a whole.
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
        wakers::wake(waker);
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
