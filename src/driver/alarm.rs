//! The driver's alarm: one `tokio::time::Interval`, whose waker runs the turn.
//!
//! tokio calls wakers with none of its locks held, on the thread that drives
//! time, so a turn run by the waker itself saves a scheduling hop, is on time
//! when the run queue is long, and is over before `advance().await` returns.
//!
//! # Ground rules
//!
//! * An `Alarm` is behind the driver's `alarm` mutex, and only the re-armer (see
//!   `plan.rs`) locks it, but for opening and closing. No shard is locked
//!   while it is held, except by reading its atomics.
//! * Setting the alarm may ring it at once, on this very thread, if tokio's
//!   clock has reached the time by then. Such a ring runs no turn (arming never
//!   fires a stranger's timer): [`is_arming`] tells it to leave a note only, and
//!   the re-armer, which finds the note, tries again a little later.
//! * A runtime that has ended panics when its interval is polled. A driver is
//!   closed, and its interval taken out, before that. Should tokio ever end
//!   things in another order, arming must not panic all the same: it is caught.
//! * A multi-thread runtime has the real clock, wherever one asks. That of a
//!   current-thread runtime may be paused, and the clock of another runtime says
//!   nothing about it: away from home nothing is compared with `now` then; the
//!   driver task is woken instead.

use std::cell::Cell;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::runtime;
use tokio::task::coop;
use tokio::time::{Instant, MissedTickBehavior};

use super::clock::Tick;
use super::sync::time::{self, Interval};
use super::sync::{current_runtime, thread_local};

/// The alarm is never armed further ahead than this: tokio before 1.54 hangs on
/// deadlines in the top level of its own wheel, 12 days away.
pub(super) const HORIZON: Duration = Duration::from_secs(24 * 60 * 60);
/// The least that can be armed ahead without tokio ringing on the spot.
const INSTANTLY: Duration = Duration::from_nanos(1);

thread_local! {
    static ARMING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is setting an alarm right now.
pub(super) fn is_arming() -> bool {
    ARMING.with(Cell::get)
}

/// Marks this thread as setting an alarm for as long as it lives.
struct Arming;

impl Arming {
    fn begin() -> Self {
        ARMING.with(|arming| arming.set(true));
        Arming
    }
}

impl Drop for Arming {
    fn drop(&mut self) {
        ARMING.with(|arming| arming.set(false));
    }
}

/// An interval, what it is armed for, and the runtime it belongs to.
pub(super) struct Alarm {
    interval: Interval,
    /// Rings: runs a turn of the driver.
    waker: Waker,
    /// [`Tick::NEVER`] when nothing is registered with tokio.
    pub(super) armed: Tick,
    runtime: runtime::Id,
    /// A time that tokio has certainly passed.
    past: Instant,
}

impl Alarm {
    /// An alarm of the current runtime, not armed.
    ///
    /// # Panics
    ///
    /// As `tokio::time::interval`: without a runtime, or one without timers.
    #[track_caller]
    pub(super) fn interval() -> Interval {
        // tokio's `sleep` reports the caller's line where its `interval` does not.
        drop(tokio::time::sleep(Duration::ZERO));
        let mut interval = time::interval(Duration::from_millis(1));
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        interval
    }

    pub(super) fn new(interval: Interval, waker: Waker, runtime: runtime::Id, now: Tick) -> Self {
        let start = now.to_instant();
        let past = start.checked_sub(HORIZON).unwrap_or(start);
        Alarm {
            interval,
            waker,
            armed: Tick::NEVER,
            runtime,
            past,
        }
    }

    /// Now, if this is called in the alarm's own runtime.
    pub(super) fn now(&self) -> Option<Tick> {
        (current_runtime()? == self.runtime).then(Tick::now)
    }

    /// Has tokio ring at `at`, or a moment ahead of `now` if that has passed, for
    /// what is due at `target`. `false` when it rang meanwhile, so that nothing
    /// is armed.
    pub(super) fn set(&mut self, at: Tick, target: Tick, now: Option<Tick>) -> bool {
        let soonest = now.map_or(at, |now| now.saturating_add(INSTANTLY));
        let pending = self.arm(at.max(soonest).to_instant());
        self.armed = if pending { target } else { Tick::NEVER };
        pending
    }

    /// Leaves nothing registered with tokio, so that a paused clock is not drawn
    /// to a timer that is gone. An interval that has just yielded a tick, and is
    /// not polled for the next, has no timer.
    pub(super) fn disarm(&mut self) {
        self.arm(self.past);
        self.armed = Tick::NEVER;
    }

    /// Whether the interval, set to `at`, is pending; also if it never rings,
    /// because its runtime has ended.
    fn arm(&mut self, at: Instant) -> bool {
        let _arming = Arming::begin();
        let polled = catch_unwind(AssertUnwindSafe(|| self.poll_at(at)));
        polled.map_or(true, |polled| polled.is_pending())
    }

    fn poll_at(&mut self, at: Instant) -> Poll<Instant> {
        self.interval.reset_at(at);
        let interval = &mut self.interval;
        // An exhausted budget would make it pending without being registered.
        let tick = coop::unconstrained(poll_fn(|cx| interval.poll_tick(cx)));
        Future::poll(pin!(tick), &mut Context::from_waker(&self.waker))
    }
}
