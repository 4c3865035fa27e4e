//! A timer: whose it is, and once it is placed, its home and, while armed, the key of its entry and
//! the identity of the entry's waker. This file has its states and polls it.
//!
//! # States
//!
//! | state | meaning | left by |
//! | --- | --- | --- |
//! | `Unplaced` | The timer knows its runtime, and when it was made. It has no home, so a timeout around a future that is ready immediately counts no reference. | poll, reset |
//! | `Placed`, `Idle` | The timer has a home and is not armed. | poll, reset |
//! | `Placed`, `Armed` | The timer was put into its shard's wheel. Until the shard's clock reaches `when`, `key` names the timer's entry. After that the entry is the driver's, and the timer does not use `key` again. | poll, reset, cancel, drop |
//! | `Placed`, `Done` | The timer has fired, or was found due. Its owner may store the waker of the poll that was ready, with [`keep`](Timer::keep), because a later reset must wake that task even if the task does not poll again before the new deadline. | reset, cancel, drop; after the end of the driver, poll |
//! | `HandedOver` | The driver has shut down, and a timer of Tokio's own has taken over, or will do so in the next poll. | drop |
//!
//! # Ground rules
//!
//! * **Change the entry first and the alarm second**: see `Home::ensure_alarm`.
//! * **Drop wakers last**, because that runs user code, which may panic.
//!
//! # After the end of the driver
//!
//! A driver shuts down if its runtime does, if its task panics, or if a hook panics while its task is
//! spawned. All of its pending timers have then elapsed, and are woken. The next poll of each timer
//! hands over to a timer of Tokio's own with the same deadline, in the runtime of that poll. A poll
//! outside any runtime panics with Tokio's message for a runtime that is being shut down. In a runtime
//! that is shutting down, Tokio's timer stays pending while tasks are still polled, and panics after
//! that.
//!
//! **Poll Tokio's timer a second time if it is ready.** A runtime that shuts down sets a mark and
//! then fires all of its timers. A poll of Tokio's timer checks the mark first and the timer
//! second. If the runtime shuts down in between, the poll is ready, however far away the
//! deadline is. The second poll sees the mark and panics, as Tokio's timers do then, instead of
//! reporting a deadline that has not passed.

mod changes;

use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Poll, Waker};

use super::context;
use super::lifecycle::{Driver, Home};
use super::shard::EntryRef;
use super::wakers::WakerId;
use crate::clock::Tick;
use crate::platform::runtime::{self, Handle};
use crate::platform::{poll_without_budget, time};

/// The driver's side of a `Sleep`.
pub(crate) enum Timer {
    Unplaced {
        runtime: runtime::Id,
        /// The tick at which the timer was made, or [`Tick::ZERO`] if the clock was not read.
        made_at: Tick,
    },
    HandedOver {
        sleep: Option<Pin<Box<time::Sleep>>>,
    },
    /// The last variant, because dropping a timer then takes fewer instructions.
    Placed(Placed),
}

/// A timer that has a home.
pub(crate) struct Placed {
    home: Arc<Home>,
    state: State,
}

enum State {
    Idle,
    /// Not an [`EntryRef`], so that the tags fit into the padding after `key`, and a `Sleep` into 48
    /// bytes.
    Armed {
        key: u32,
        when: Tick,
        waker: WakerId,
    },
    Done {
        waker: Option<Waker>,
    },
}

impl Timer {
    /// Creates a timer of this thread's runtime.
    ///
    /// # Panics
    ///
    /// Panics outside a runtime, and in a runtime without timers, at the caller's line.
    #[inline]
    #[track_caller]
    pub(crate) fn new(made_at: Tick) -> Self {
        let runtime = context::runtime();
        Timer::Unplaced { runtime, made_at }
    }

    /// Creates a timer of the given driver.
    pub(crate) fn of_driver(driver: &Driver) -> Self {
        Timer::at(context::home_of(driver))
    }

    #[inline]
    pub(super) fn at(home: Arc<Home>) -> Self {
        let state = State::Idle;
        Timer::Placed(Placed { home, state })
    }

    /// Gives an unplaced timer this thread's home in the driver of its runtime, checks there for timers
    /// that are late or due soon (see `pass.rs`), and returns the timer.
    #[inline(always)]
    fn place(&mut self) -> Option<&mut Placed> {
        let Timer::Unplaced { runtime, made_at } = *self else {
            return None;
        };
        let Some(home) = context::home_in(runtime) else {
            // The driver has ended.
            *self = Timer::HandedOver { sleep: None };
            return None;
        };
        // An unplaced timer owns nothing that would have to be dropped.
        mem::forget(mem::replace(self, Timer::at(home)));
        let Timer::Placed(placed) = self else {
            return None;
        };
        if placed.home.shard.is_due_soon(made_at) {
            placed.home.check_for_late(made_at);
        }
        Some(placed)
    }

    /// Returns `true` if the next poll arms the timer.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        match self {
            Timer::Placed(placed) => matches!(placed.state, State::Idle),
            _ => matches!(self, Timer::Unplaced { .. }),
        }
    }

    /// Returns `true` if the timer is pending with this very waker, so that a poll changes nothing.
    #[inline]
    pub(crate) fn is_pending_with(&self, polled_with: &Waker) -> bool {
        let Timer::Placed(Placed { home, state }) = self else {
            return false;
        };
        match state {
            State::Armed { when, waker, .. } => waker.is(polled_with) && home.shard.clock() < *when,
            _ => false,
        }
    }

    /// Polls for `deadline`. If the timer is armed, `deadline` must be that of the last poll or
    /// reset. Call this only if [`is_pending_with`](Self::is_pending_with) returned `false`,
    /// because this does not check again. May panic if the runtime has shut down.
    ///
    /// This is out of line, so that users' futures contain a single call. Only the fast path is
    /// inlined into it.
    pub(crate) fn poll(&mut self, deadline: Tick, waker: &Waker) -> Poll<()> {
        let idle = match self {
            Timer::Placed(placed) if matches!(placed.state, State::Idle) => {
                placed.move_to_own_home();
                Some(placed)
            }
            _ => self.place(),
        };
        if let Some(placed) = idle {
            let is_fast = deadline >= placed.home.shard.fast_path_from();
            if is_fast && placed.arm_at_home(deadline, waker.clone()).is_ok() {
                return Poll::Pending;
            }
        }
        self.poll_slow(deadline, waker)
    }

    /// Polls a timer that is not idle, or whose deadline is near, or whose shard is busy.
    #[inline(never)]
    fn poll_slow(&mut self, deadline: Tick, waker: &Waker) -> Poll<()> {
        match self {
            Timer::Placed(placed) => {
                if let Some(polled) = placed.poll(deadline, waker) {
                    return polled;
                }
            }
            Timer::HandedOver { sleep: Some(sleep) } => return poll_tokios(sleep, waker),
            _ => {}
        }
        self.hand_over(deadline, waker)
    }

    /// Stores the waker of a poll that was ready, so that a reset wakes that task. The owner calls
    /// this after such a poll, unless it always polls the timer again after resetting it.
    pub(crate) fn keep(&mut self, with: &Waker) {
        let Timer::Placed(placed) = self else { return };
        if let State::Done { waker } = &mut placed.state {
            waker.get_or_insert_with(|| with.clone()).clone_from(with);
        }
    }

    /// Returns `true` if the timer has fired or was found due, or if the runtime has shut down
    /// since it was armed, which fires all of its timers.
    pub(crate) fn is_elapsed(&self) -> bool {
        match self {
            Timer::Unplaced { .. } => false,
            Timer::Placed(Placed { home, state }) => match state {
                State::Idle => false,
                State::Armed { when, .. } => !home.shard.admits(*when),
                State::Done { .. } => true,
            },
            Timer::HandedOver { sleep } => sleep.as_ref().is_none_or(|sleep| sleep.is_elapsed()),
        }
    }

    /// Hands over to a timer of Tokio's own, and polls that. See the head of this file.
    #[cold]
    fn hand_over(&mut self, deadline: Tick, waker: &Waker) -> Poll<()> {
        if Handle::try_current().is_err() {
            panic!("A Tokio 1.x context was found, but it is being shutdown.");
        }
        let mut sleep = Box::pin(time::sleep_until(deadline.to_instant()));
        let polled = poll_tokios(&mut sleep, waker);
        *self = Timer::HandedOver { sleep: Some(sleep) };
        polled
    }
}

impl Placed {
    /// Polls on the slow path. Returns `None` if the driver has shut down.
    fn poll(&mut self, deadline: Tick, waker: &Waker) -> Option<Poll<()>> {
        let is_pending = match &self.state {
            State::Idle => self.arm(deadline, waker.clone()).is_ok(),
            State::Armed { .. } => self.poll_armed(waker),
            State::Done { .. } => false,
        };
        if is_pending {
            return Some(Poll::Pending);
        }
        if self.home.shard.is_closed() {
            return None;
        }
        // A timer that was done before keeps the waker of an earlier poll.
        if !matches!(self.state, State::Done { .. }) {
            self.state = State::Done { waker: None };
        }
        Some(Poll::Ready(()))
    }

    /// Gives an armed timer the waker of this poll. Returns `false` if the timer has fired, or if the
    /// driver has shut down.
    #[inline(never)]
    fn poll_armed(&mut self, waker: &Waker) -> bool {
        let shard = &self.home.shard;
        // Without the lock, and without a clone of the waker: most such timers have fired.
        let Some(entry) = self.state.entry().filter(|it| shard.admits(it.when)) else {
            return false;
        };
        let clone = waker.clone();
        let id = WakerId::of(&clone);
        let Ok(old) = shard.replace_waker(entry, clone) else {
            return false;
        };
        if let State::Armed { waker, .. } = &mut self.state {
            *waker = id;
        }
        drop(old);
        true
    }
}

/// Polls a timer of Tokio's own, twice if it is ready: see the head of this file.
#[cold]
fn poll_tokios(sleep: &mut Pin<Box<time::Sleep>>, waker: &Waker) -> Poll<()> {
    let polled = poll_without_budget(sleep.as_mut(), waker);
    if polled.is_ready() {
        // If the shutdown of the runtime has fired the timer, this panics. So no timer is reported
        // early.
        let _still_ready = poll_without_budget(sleep.as_mut(), waker);
    }
    polled
}

impl State {
    /// Returns the entry of an armed timer.
    #[inline]
    fn entry(&self) -> Option<EntryRef> {
        match *self {
            State::Armed { key, when, .. } => Some(EntryRef { key, when }),
            _ => None,
        }
    }

    /// Changes the state without dropping the old one. Call this only in the states `Idle` and `Armed`,
    /// which own nothing.
    #[inline(always)]
    fn overwrite(&mut self, next: State) {
        debug_assert!(!matches!(self, State::Done { .. }));
        mem::forget(mem::replace(self, next));
    }

    /// Notes the new deadline of an armed timer.
    #[inline(always)]
    fn set_when(&mut self, deadline: Tick) {
        if let State::Armed { when, .. } = self {
            *when = deadline;
        }
    }
}

impl Drop for Placed {
    #[inline]
    fn drop(&mut self) {
        // Only an armed timer needs a call.
        if matches!(self.state, State::Armed { .. }) {
            self.disarm();
        }
    }
}
