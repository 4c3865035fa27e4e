//! A timer: its shard and, while it is registered, its entry there and the waker. This file has its
//! states and polls it; `timer/changes.rs` registers, resets and cancels it. The terms are defined
//! in `driver/mod.rs`.
//!
//! # States
//!
//! | state | meaning | left by |
//! | --- | --- | --- |
//! | `Idle` | The timer is not registered. | poll, reset |
//! | `Registered` | The timer is in its shard's wheel. While `when` is after the shard's clock, `key` names the timer's entry. From then on the entry is the driver's, and the timer does not use `key` again. | poll, reset, cancel, drop |
//! | `Done` | The timer has fired, or was found due. Its owner may store the waker of the poll that was ready, with [`keep`](Timer::keep), because a later reset must wake that task even if the task does not poll again before the new deadline. | reset, cancel, drop; after a shutdown of the driver, poll |
//! | `Tokios` | The driver has shut down, and a timer of tokio's own has taken over. | cancel, drop |
//!
//! # Ground rules
//!
//! * **Polling again with the same waker takes no lock.** It costs two loads and a comparison of
//!   wakers.
//! * **Change the entry first and the alarm second**: see "Never lose a timer" in `alarm/mod.rs`.
//! * **Drop wakers last**, because that runs user code, which may panic.
//!
//! # After a shutdown of the driver
//!
//! A driver shuts down with its runtime, or earlier if `Wheel::shutdown` is called. All of its
//! pending timers are woken. The next poll of each timer hands over to a timer of tokio's own with
//! the same deadline, in the runtime of that poll. A poll outside any runtime panics with tokio's
//! message. In a runtime that is shutting down, tokio's timer stays pending while tasks are still
//! polled, and panics after that.
//!
//! **Poll tokio's timer a second time if it is ready.** A runtime that shuts down sets a mark and
//! then fires all of its timers. A poll of tokio's timer tests the mark first and looks at the
//! timer second. If the runtime shuts down in between, the poll is ready, however far away the
//! deadline is. The second poll sees the mark and panics, as tokio's timers do then, instead of
//! reporting a deadline that has not passed.

mod changes;

use std::mem;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use tokio::runtime::Handle;
use tokio::task::coop;

use super::context::{self, ShardHandle};
use super::driver::DriverRef;
use super::shard::{EntryRef, Refused, Shard};
use super::wakers::{self, WakerId};
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
        waker: WakerId,
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

/// Creating a timer, which registers nothing.
impl Timer {
    /// Creates a timer of this thread's driver.
    ///
    /// # Panics
    ///
    /// Panics outside a runtime, and in a runtime without timers, at the caller's line.
    #[inline]
    #[track_caller]
    pub(crate) fn new() -> Self {
        Timer::on(context::shard())
    }

    /// Creates a timer like [`new`](Self::new), at the time `now`. Also checks the shard for timers
    /// that are late or due soon. A multi-thread runtime that keeps creating timers therefore fires
    /// them on time, even if it rarely gets to poll tokio's time driver.
    #[inline]
    #[track_caller]
    pub(crate) fn new_at(now: Tick) -> Self {
        let here = context::shard();
        if here.0.is_due_soon(now) {
            return Timer::on(checked(here, now));
        }
        Timer::on(here)
    }

    /// Creates a timer of the given driver.
    pub(crate) fn of_driver(driver: DriverRef) -> Self {
        Timer::on((context::shard_of(driver), driver.generation))
    }

    /// Creates a timer on the given shard.
    #[inline]
    pub(super) fn on((shard, generation): ShardHandle) -> Self {
        let state = State::Idle { generation };
        Timer { shard, state }
    }
}

/// Checks a shard for late timers and returns it. Out of line, and called before the timer exists:
/// a timer that exists during a call has to be stored in memory.
#[cold]
fn checked(here: ShardHandle, now: Tick) -> ShardHandle {
    here.0.driver.check_for_late(here.0, now);
    here
}

/// Polling.
impl Timer {
    /// Returns `true` if the timer is idle, so that the next poll registers it.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        matches!(self.state, State::Idle { .. })
    }

    /// Returns `true` if the timer is pending with this very waker, so that a poll changes nothing.
    #[inline]
    pub(crate) fn is_pending_with(&self, polled_with: &Waker) -> bool {
        self.entry().is_some_and(|(entry, waker)| {
            waker.is(polled_with) && self.shard.check(entry.generation, entry.when).is_ok()
        })
    }

    /// Polls for `deadline`. If the timer is registered, `deadline` must be that of the last poll
    /// or reset. Call this only if [`is_pending_with`](Self::is_pending_with) returned `false`.
    ///
    /// This is out of line, so that users' futures contain a single call. Only the fast path is
    /// inlined into it.
    ///
    /// # Panics
    ///
    /// Panics if the runtime has shut down.
    pub(crate) fn poll(&mut self, deadline: Tick, waker: &Waker) -> Poll<()> {
        let is_fast = self.is_idle() && deadline >= self.shard.fast_path_from();
        if is_fast && self.arm(self.shard, deadline, waker.clone()).is_ok() {
            return Poll::Pending;
        }
        self.poll_slow(deadline, waker)
    }

    /// Polls a timer that is not idle, whose deadline is near, or whose shard was busy.
    #[inline(never)]
    fn poll_slow(&mut self, deadline: Tick, waker: &Waker) -> Poll<()> {
        if let State::Tokios { sleep, .. } = &mut self.state {
            return poll_tokios(sleep, waker);
        }
        let registered = match &self.state {
            State::Idle { .. } => self.register(deadline, waker),
            State::Registered { .. } => self.poll_registered(waker),
            // The state stays as it is, so that the waker of an earlier poll is kept.
            State::Done { .. } if !self.has_ended() => return Poll::Ready(()),
            _ended => Err(Refused::Closed),
        };
        self.polled(registered, deadline, waker)
    }

    /// Returns the outcome of a poll, after trying to register, or to change the waker.
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

    /// Gives a registered timer the waker of this poll. Refused as due if the timer has fired.
    #[inline(never)]
    fn poll_registered(&mut self, waker: &Waker) -> Result<(), Refused> {
        let (entry, ..) = self.entry().ok_or(Refused::Closed)?;
        // Without the lock, and without a clone of the waker: most such timers have fired.
        self.shard.check(entry.generation, entry.when)?;
        let waker = waker.clone();
        let id = WakerId::of(&waker);
        let old = self.shard.replace_waker(entry, waker)?;
        self.set_registered(entry.key, entry.when, id);
        drop(old);
        Ok(())
    }

    /// Stores the waker of a poll that was ready, so that a reset wakes that task. The owner calls
    /// this after such a poll, unless it always polls the timer again after resetting it.
    pub(crate) fn keep(&mut self, with: &Waker) {
        if let State::Done { waker, .. } = &mut self.state {
            waker.get_or_insert_with(|| with.clone()).clone_from(with);
        }
    }

    /// Returns `true` if the deadline was reached while the timer was registered, or if the runtime
    /// has shut down since, which fires all of its timers.
    pub(crate) fn is_elapsed(&self) -> bool {
        match &self.state {
            State::Idle { .. } => false,
            State::Registered { when, .. } => match self.shard.check(self.generation(), *when) {
                Err(Refused::Closed) => !self.driver_was_shut_down(),
                checked => checked.is_err(),
            },
            State::Done { .. } => true,
            State::Tokios { sleep, .. } => sleep.is_elapsed(),
        }
    }

    /// Hands over to a timer of tokio's own, and polls that.
    ///
    /// # Panics
    ///
    /// Panics under the same conditions as tokio's timer, with the same message.
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

/// Polls a timer of tokio's own, twice if it is ready: see the head of this file.
#[cold]
fn poll_tokios(sleep: &mut Pin<Box<tokio::time::Sleep>>, waker: &Waker) -> Poll<()> {
    let mut poll = || {
        let sleep = pin!(coop::unconstrained(sleep.as_mut()));
        sleep.poll(&mut Context::from_waker(waker))
    };
    let polled = poll();
    if polled.is_ready() {
        // If the shutdown of the runtime has fired the timer, this panics. So no timer is reported
        // early.
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

    /// Returns `true` if `Wheel::shutdown` shut the driver down. The driver's timers then have not
    /// elapsed, but continue as timers of tokio's own.
    fn driver_was_shut_down(&self) -> bool {
        self.shard.driver.is_shut_down(self.generation())
    }

    /// Returns the entry and its waker, or `None` if the timer is not registered. Reads field by field: the fields may just have been written one by one, and a
    /// wide load of them would have to wait until those stores have left the processor's store
    /// buffer.
    #[inline]
    fn entry(&self) -> Option<(EntryRef, WakerId)> {
        let State::Registered {
            generation,
            key,
            when,
            waker,
        } = self.state
        else {
            return None;
        };
        let entry = EntryRef {
            key,
            generation,
            when,
        };
        Some((entry, waker))
    }

    /// Changes the state without dropping the old one. Call this only in a state that owns nothing:
    /// `Idle`, `Registered`, or `Done` whose waker was taken out, as `reset_unregistered` does.
    #[inline(always)]
    fn overwrite(&mut self, next: State) {
        debug_assert!(!matches!(
            self.state,
            State::Done { waker: Some(_), .. } | State::Tokios { .. }
        ));
        mem::forget(mem::replace(&mut self.state, next));
    }

    #[inline(always)]
    fn set_registered(&mut self, key: u32, when: Tick, waker: WakerId) {
        let generation = self.generation();
        self.overwrite(State::Registered {
            generation,
            key,
            when,
            waker,
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

    /// Marks the timer as fired and wakes its task.
    fn finish(&mut self, waker: Waker) {
        self.set_done();
        wakers::wake_all([waker]);
    }
}

impl Drop for Timer {
    #[inline]
    fn drop(&mut self) {
        // Only a registered timer needs a call.
        if matches!(self.state, State::Registered { .. }) {
            self.unregister();
        }
    }
}
