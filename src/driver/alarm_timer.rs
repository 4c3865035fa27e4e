//! An interval of tokio's: arming, disarming, and the runtime that drives the interval.
//!
//! # Ground rules
//!
//! * An [`AlarmTimer`] is used under the lock of the alarm's timer, and no other lock but tokio's
//!   own is taken.
//! * Arming may ring at once, on this very thread, if tokio's clock has passed the time.
//!   Such a ring fires nothing (arming never fires a stranger's timer): where [`is_arming`],
//!   the ring is only recorded. The armer then asks the driver task for a turn.
//! * A runtime that has ended panics when its interval is polled. A driver is closed, and
//!   its interval taken out, before that. Should tokio ever end things in another order,
//!   arming must not panic all the same: the panic is caught.

use std::cell::Cell;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::coop;
use tokio::time::{Instant, MissedTickBehavior};

use super::clock::Tick;
use super::sync::thread_local;
use super::sync::time::{self, Interval};
use super::timerfd::{HighResolution, LEAD};

/// Far enough back to complete immediately.
const PAST: Duration = Duration::from_secs(24 * 60 * 60);

/// An interval, the tick that is armed for, and the interval's runtime.
pub(super) struct AlarmTimer {
    pub(super) interval: Interval,
    /// Rings for near deadlines.
    pub(super) precise: Option<HighResolution>,
    /// Rings.
    pub(super) waker: Waker,
    /// [`Tick::NEVER`] when nothing is registered with tokio.
    pub(super) armed: Tick,
    pub(super) runtime: Handle,
    /// The driver's.
    pub(super) generation: u32,
    /// That runtime has taken the driver task.
    pub(super) runs: bool,
}

impl AlarmTimer {
    /// An interval of the current runtime.
    ///
    /// # Panics
    ///
    /// As `tokio::time::interval`: without a runtime, or in a runtime without timers.
    #[track_caller]
    pub(super) fn interval() -> Interval {
        // tokio's `sleep` reports the caller's line where its `interval` does not.
        drop(tokio::time::sleep(Duration::ZERO));
        let mut interval = time::interval(Duration::from_millis(1));
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        interval
    }

    /// Either of the two sources has rung: neither counts as set any more.
    pub(super) fn rang(&mut self, now: Tick) {
        self.armed = Tick::NEVER;
        if let Some(precise) = &mut self.precise {
            precise.rang(now);
        }
    }

    /// The timerfd no longer counts as set.
    pub(super) fn forget(&mut self) {
        if let Some(precise) = &mut self.precise {
            precise.forget();
        }
    }

    /// When tokio is to ring for a deadline: at the deadline; or, where there is a timerfd, early
    /// enough for the timerfd to be set. `None` if the timerfd is set.
    pub(super) fn tokio_rings_at(&mut self, target: Tick, now: Tick) -> Option<Tick> {
        let Some(precise) = &mut self.precise else {
            return Some(target);
        };
        if precise.set(target, now, &self.waker) {
            self.armed = target;
            return None;
        }
        let soonest = now.saturating_add(Duration::from_nanos(1));
        Some(target.saturating_sub(LEAD).max(soonest))
    }

    /// Has tokio ring at `at` for `target`. Returns false when tokio rang on the spot, so that
    /// nothing is armed.
    pub(super) fn arm(&mut self, at: Tick, target: Tick) -> bool {
        // This poll may set `rung`; forget the timerfd setting.
        self.forget();
        let _arming = Arming::begin();
        let polled = catch_unwind(AssertUnwindSafe(|| self.poll_at(at.to_instant())));
        // A poll that panics, for the runtime has ended, counts as pending for ever.
        let pending = polled.map_or(true, |polled| polled.is_pending());
        self.armed = if pending { target } else { Tick::NEVER };
        pending
    }

    /// Leaves nothing registered with tokio, so that a paused clock does not advance to a timer
    /// that was cancelled. An interval that has just yielded a tick, and is not polled for the
    /// next, has no timer.
    pub(super) fn disarm(&mut self, now: Tick) {
        self.arm(now.saturating_sub(PAST), Tick::NEVER);
    }

    fn poll_at(&mut self, at: Instant) -> Poll<Instant> {
        self.interval.reset_at(at);
        let interval = &mut self.interval;
        // With an exhausted budget the interval would be pending without being registered.
        let tick = coop::unconstrained(poll_fn(|cx| interval.poll_tick(cx)));
        Future::poll(pin!(tick), &mut Context::from_waker(&self.waker))
    }
}

thread_local! {
    static ARMING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is arming right now.
pub(super) fn is_arming() -> bool {
    ARMING.with(Cell::get)
}

/// While this lives, the thread is arming.
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
