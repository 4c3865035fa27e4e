//! One timer: where it is registered, and with which waker.
//!
//! # States
//!
//! | state | meaning | leaves by |
//! | --- | --- | --- |
//! | `Idle` | not registered | poll, reset |
//! | `Registered` | in its shard's wheel. While `when` is after the shard's clock, `key` names our entry; from then on the entry is the driver's, and `key` is not used again | poll, reset, drop |
//! | `Done` | fired, or found due. Keeps the waker of the poll that has said so: a task that resets its timer then is woken, though it may not poll before | reset, drop |
//! | `Twice` | it was made on a worker, and is polled where another runtime is current. Whether that one is driven, or the worker's, cannot be told: it is registered with both, and stays so | drop |
//! | `StandIn` | its driver has ended, and so will the runtime that it was polled in. A timer of tokio's own does what tokio does | poll, reset, drop |
//!
//! # Ground rules
//!
//! * Re-polling takes no lock: two loads, and the identity of the waker. (But for `Twice`.)
//!
//! | file | one idea |
//! | --- | --- |
//! | `timer/due.rs` | when a timer with a deadline fires |
//! | `timer/register.rs` | how it gets into a wheel |
//! | `timer/twice.rs` | one that is polled where another runtime is current |
//! | `timer/ended.rs` | one whose driver has ended |

mod due;
mod ended;
mod register;
mod twice;

use std::pin::Pin;
use std::task::{Poll, Waker};

pub(crate) use self::due::Due;
use super::cancel_queue::EntryRef;
use super::clock::{SOON, Tick};
use super::shard::Refused;
use super::waker_id::{self, VtableId};
use super::{DriverRef, DriverShard, ShardRef, current, fire};

/// The driver's side of a `Sleep`.
pub(crate) struct Timer {
    shard: ShardRef,
    state: State,
}

enum State {
    Idle {
        tenure: Tenure,
    },
    Registered {
        tenure: Tenure,
        key: u32,
        when: Tick,
        /// The data pointer of the waker that is registered, and its vtable.
        waker: usize,
        vtable: VtableId,
    },
    Done {
        tenure: Tenure,
        waker: Option<Waker>,
    },
    Twice {
        tenure: Tenure,
        timers: Box<[Timer; 2]>,
    },
    StandIn {
        tenure: Tenure,
        sleep: Pin<Box<tokio::time::Sleep>>,
    },
}

/// The driver's generation in 14 bits, and how the timer came to that driver.
#[derive(Clone, Copy)]
struct Tenure(u16);

/// Made by a `Wheel`: it stays with its driver.
const OF_A_WHEEL: u16 = 1;
/// Made on a worker, and taken for the worker's own; polled where no other runtime is.
const OF_A_WORKER: u16 = 2;

impl Tenure {
    fn new(generation: u32, how: u16) -> Self {
        // The registry lets no generation be greater.
        Tenure((generation as u16) << 2 | how)
    }

    #[inline]
    fn generation(self) -> u32 {
        u32::from(self.0 >> 2)
    }

    #[inline]
    fn is(self, how: u16) -> bool {
        self.0 & how != 0
    }
}

/// The driver has ended.
struct Closed;

impl Timer {
    /// A timer of the current runtime's driver. Registers nothing.
    ///
    /// # Panics
    ///
    /// Without a runtime, or in one without timers, at the caller's line.
    #[inline]
    #[track_caller]
    pub(crate) fn new() -> Self {
        Timer::here(current::shard())
    }

    /// The same, `now`. It has a look at what is due in this shard, or soon will be: a
    /// runtime that makes timers all the time has them fire on time, however seldom it looks
    /// at its own.
    #[inline]
    #[track_caller]
    pub(crate) fn new_at(now: Tick) -> Self {
        let here = current::shard();
        let DriverShard { shard, driver, .. } = here.0;
        let next = shard.next();
        // Before there is a timer: one that outlasts a call has to be in memory.
        if next <= now.saturating_add(SOON) {
            driver.look(next, now);
        }
        Timer::here(here)
    }

    #[inline]
    fn here((shard, generation, is_workers): (ShardRef, u32, bool)) -> Self {
        let how = if is_workers { OF_A_WORKER } else { 0 };
        Timer::at(shard, Tenure::new(generation, how))
    }

    /// A timer of a `Wheel`.
    pub(crate) fn of(driver: DriverRef) -> Self {
        Timer::in_service(driver, OF_A_WHEEL)
    }

    fn in_service(driver: DriverRef, how: u16) -> Self {
        Timer::at(current::of(driver), Tenure::new(driver.generation, how))
    }

    #[inline]
    fn at(shard: ShardRef, tenure: Tenure) -> Self {
        let state = State::Idle { tenure };
        Timer { shard, state }
    }

    /// A timer of the free functions on a shard that is known.
    #[cfg(all(test, loom))]
    pub(super) fn on(shard: ShardRef, generation: u32) -> Self {
        Timer::at(shard, Tenure::new(generation, 0))
    }

    /// Whether the deadline was reached while this was registered.
    pub(crate) fn is_elapsed(&self) -> bool {
        match &self.state {
            State::Idle { .. } => false,
            State::Registered { when, .. } => self.clock() >= *when || self.has_ended(),
            State::Done { .. } => true,
            State::Twice { timers, .. } => twice::is_elapsed(timers),
            State::StandIn { sleep, .. } => sleep.is_elapsed(),
        }
    }

    /// Whether it is pending with this very waker, so that polling changes nothing.
    #[inline]
    pub(crate) fn waits(&self, with: &Waker) -> bool {
        self.entry().is_some_and(|(entry, waker, vtable)| {
            self.clock() < entry.when
                && waker == with.data() as usize
                && waker_id::is(with, vtable)
                && !self.has_ended()
        })
    }

    /// Polls for `deadline`, which must be the one given before if registered, and if this
    /// does not [wait](Self::waits) with this very waker.
    ///
    /// # Panics
    ///
    /// When the runtime has ended.
    ///
    /// Out of line, where everything below is inlined: users' futures get a call.
    pub(crate) fn poll(&mut self, deadline: Tick, due: Due, waker: &Waker) -> Poll<()> {
        if self.tenure().is(OF_A_WORKER) && !self.is_polled_at_home(waker) {
            self.settle();
        }
        if let State::Twice { timers, .. } = &mut self.state {
            return twice::poll(timers, deadline, due, waker);
        }
        let polled = match &self.state {
            State::Idle { .. } => self.poll_first(deadline, due, waker),
            State::Registered { .. } => self.poll_registered(waker),
            State::Done { .. } if !self.has_ended() => Ok(Poll::Ready(())),
            _ended => Err(Closed),
        };
        match polled {
            Ok(polled) => polled,
            Err(Closed) => self.poll_after_the_end(deadline, due, waker),
        }
    }

    #[inline(never)]
    fn poll_registered(&mut self, waker: &Waker) -> Result<Poll<()>, Closed> {
        let (entry, ..) = self.entry().ok_or(Closed)?;
        let clock = self.clock();
        if self.has_ended() {
            return Err(Closed);
        }
        if clock >= entry.when {
            return Ok(self.done());
        }
        match self.shard.shard.replace_waker(entry, waker.clone()) {
            Ok(old) => {
                self.registered(entry.key, entry.when, waker);
                // Last: what it does when it is dropped is not ours. It may panic.
                drop(old);
                Ok(Poll::Pending)
            }
            Err(Refused::Closed) => Err(Closed),
            Err(_fired) => Ok(self.done()),
        }
    }

    fn poll_first(&mut self, deadline: Tick, due: Due, waker: &Waker) -> Result<Poll<()>, Closed> {
        match self.register(deadline, due, waker)? {
            Poll::Pending => Ok(Poll::Pending),
            Poll::Ready(()) => Ok(self.done()),
        }
    }

    fn done(&mut self) -> Poll<()> {
        self.set_done(None);
        Poll::Ready(())
    }

    /// Moves the timer to another deadline, which need not be polled for: the
    /// waker is kept.
    pub(crate) fn reset(&mut self, deadline: Tick, due: Due) {
        if let State::StandIn { sleep, .. } = &mut self.state {
            return sleep.as_mut().reset(deadline.to_instant());
        }
        if let State::Twice { timers, .. } = &mut self.state {
            return timers.iter_mut().for_each(|it| it.reset(deadline, due));
        }
        let Some((entry, ..)) = self.entry() else {
            return self.register_unpolled(deadline, due);
        };
        // One that has come is before every shard's clock: it fires on the spot.
        let when = self.come(deadline, due).unwrap_or(Tick::ZERO);
        match self.shard.shard.reschedule(entry, when) {
            Ok(fired) => self.moved(when, fired),
            Err(Refused::Closed) => self.set_done(None),
            Err(_fired) => {
                self.set_done(None);
                self.register_unpolled(deadline, due);
            }
        }
    }

    /// Registers without being polled. As tokio's, a timer that is reset elapses
    /// though nobody polls it, and wakes the task that last did.
    #[cold]
    fn register_unpolled(&mut self, deadline: Tick, due: Due) {
        let kept = match &mut self.state {
            State::Done { waker, .. } => waker.take(),
            _ => None,
        };
        let waker = kept.unwrap_or_else(|| Waker::noop().clone());
        if !matches!(self.register(deadline, due, &waker), Ok(Poll::Pending)) {
            self.finish(waker);
        }
    }

    /// Unregisters the timer; it is registered again when it is next polled.
    #[inline(never)]
    pub(crate) fn cancel(&mut self) {
        if let State::Twice { timers, .. } = &mut self.state {
            return timers.iter_mut().for_each(Timer::cancel);
        }
        let (entry, tenure) = (self.entry(), self.tenure());
        self.state = State::Idle { tenure };
        let owned = entry.filter(|(entry, ..)| self.clock() < entry.when);
        if let Some((entry, waker, vtable)) = owned {
            self.cancel_entry(entry, waker, vtable);
        }
    }

    /// At once, as the shard's spare, or into its queue.
    #[inline]
    fn cancel_entry(&self, entry: EntryRef, waker: usize, vtable: VtableId) {
        let DriverShard { shard, driver, .. } = self.shard;
        if driver.alarm.may_pause() || vtable != waker_id::OF_TASKS {
            shard.cancel_now(entry);
            return driver.retract(shard);
        }
        match shard.spare.is_mine() {
            true if shard.spare.leave(entry, waker) => {}
            false if current::is_own(self.shard) == Some(false) => shard.cancel_later(entry),
            _ => shard.cancel(entry),
        }
    }

    /// Keeps the waker that a timer which is done was polled with, to be woken
    /// if it is reset.
    pub(crate) fn keep(&mut self, with: &Waker) {
        match &mut self.state {
            State::Done { waker, .. } => match waker {
                Some(kept) => kept.clone_from(with),
                None => *waker = Some(with.clone()),
            },
            State::Twice { timers, .. } => timers.iter_mut().for_each(|it| it.keep(with)),
            _ => {}
        }
    }
}

/// From state to state.
impl Timer {
    fn moved(&mut self, to: Tick, fired: Option<Waker>) {
        let DriverShard { shard, driver, .. } = self.shard;
        driver.retract(shard);
        if let Some(waker) = fired {
            return self.finish(waker);
        }
        if let State::Registered { when, .. } = &mut self.state {
            *when = to;
        }
        driver.ring_by(to);
    }

    fn set_done(&mut self, waker: Option<Waker>) {
        let tenure = self.tenure();
        self.state = State::Done { tenure, waker };
    }

    fn finish(&mut self, waker: Waker) {
        self.set_done(None);
        fire::wake(waker);
    }
}

/// What the states have in common.
impl Timer {
    #[inline]
    fn tenure(&self) -> Tenure {
        match self.state {
            State::Idle { tenure }
            | State::Registered { tenure, .. }
            | State::Done { tenure, .. }
            | State::Twice { tenure, .. }
            | State::StandIn { tenure, .. } => tenure,
        }
    }

    /// If it is registered: its entry, and the waker's data pointer and vtable. Field by
    /// field: what was just written in parts is slow to read as a whole.
    #[inline]
    fn entry(&self) -> Option<(EntryRef, usize, VtableId)> {
        let State::Registered {
            tenure,
            key,
            when,
            waker,
            vtable,
        } = self.state
        else {
            return None;
        };
        let generation = tenure.generation();
        let entry = EntryRef {
            key,
            generation,
            when,
        };
        Some((entry, waker, vtable))
    }

    #[inline]
    fn generation(&self) -> u32 {
        self.tenure().generation()
    }

    #[inline]
    fn clock(&self) -> Tick {
        self.shard.shard.clock()
    }

    #[inline]
    fn has_ended(&self) -> bool {
        !self.shard.shard.serves(self.generation())
    }
}

impl Drop for Timer {
    #[inline]
    fn drop(&mut self) {
        // One that was never needed is dropped without a call.
        if matches!(self.state, State::Registered { .. }) {
            self.cancel();
        }
    }
}
