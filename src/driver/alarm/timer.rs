//! One of tokio's intervals, what it is armed for, and the runtime that it belongs to.
//!
//! # Ground rules
//!
//! * Everything here happens under the lock of the alarm's timer, and no other lock but
//!   tokio's own is taken.
//! * Arming may ring at once, on this very thread, if tokio's clock has passed the time.
//!   Such a ring fires nothing (arming never fires a stranger's timer): [`is_arming`] tells
//!   it to leave a note only. Whoever armed then asks the driver task for a turn.
//! * A runtime that has ended panics when its interval is polled. A driver is closed, and
//!   its interval taken out, before that. Should tokio ever end things in another order,
//!   arming must not panic all the same: it is caught.
//! * tokio's timers per worker panic from when their runtime begins to end. So they are
//!   armed only where a timer of the user's own would be that runtime's too; elsewhere the
//!   driver task is asked to.

use std::cell::Cell;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::coop;
use tokio::time::{Instant, MissedTickBehavior};

use super::INSTANTLY;
use crate::driver::clock::Tick;
use crate::driver::high_resolution::{HighResolution, LEAD};
use crate::driver::sync::thread_local;
use crate::driver::sync::time::{self, Interval};

/// tokio has certainly passed what is so long ago.
const PAST: Duration = Duration::from_secs(24 * 60 * 60);

/// An interval, what it is armed for, and the runtime it belongs to.
pub(in crate::driver) struct AlarmTimer {
    pub(in crate::driver) interval: Interval,
    /// Rings for what is near.
    pub(in crate::driver) precise: Option<HighResolution>,
    /// Rings.
    pub(in crate::driver) waker: Waker,
    /// [`Tick::NEVER`] when nothing is registered with tokio.
    pub(in crate::driver) armed: Tick,
    pub(in crate::driver) runtime: Handle,
    /// The driver's.
    pub(in crate::driver) generation: u32,
    /// That runtime has taken the driver task.
    pub(in crate::driver) runs: bool,
    /// What rings is one of tokio's timers per worker.
    pub(in crate::driver) is_workers: bool,
}

impl AlarmTimer {
    /// An interval of the current runtime.
    ///
    /// # Panics
    ///
    /// As `tokio::time::interval`: without a runtime, or one without timers.
    #[track_caller]
    pub(in crate::driver) fn interval() -> Interval {
        // tokio's `sleep` reports the caller's line where its `interval` does not.
        drop(tokio::time::sleep(Duration::ZERO));
        let mut interval = time::interval(Duration::from_millis(1));
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        interval
    }

    /// One of the two has rung. Nobody asks which: neither is relied on any more.
    pub(super) fn rang(&mut self, now: Tick) {
        self.armed = Tick::NEVER;
        if let Some(precise) = &mut self.precise {
            precise.rang(now);
        }
    }

    /// What the descriptor is set to is not relied on any more.
    pub(super) fn forget(&mut self) {
        if let Some(precise) = &mut self.precise {
            precise.forget();
        }
    }

    /// When tokio is to ring for a deadline: for that itself; or, where there is a descriptor,
    /// early enough for it to be set. `None` if the descriptor rings.
    pub(super) fn tokio_rings_at(&mut self, target: Tick, now: Tick) -> Option<Tick> {
        let Some(precise) = &mut self.precise else {
            return Some(target);
        };
        if precise.set(target, now, &self.waker) {
            self.armed = target;
            return None;
        }
        let soonest = now.saturating_add(INSTANTLY);
        Some(target.saturating_sub(LEAD).max(soonest))
    }

    /// tokio's timers per worker are ready at the end of their runtime, where others panic.
    /// Nothing but their `Debug` tells one from the other.
    pub(super) fn is_per_worker(&self) -> bool {
        let kind = || {
            let _inside = self.runtime.enter();
            let mut sleep = pin!(tokio::time::sleep(PAST));
            let polled = coop::unconstrained(sleep.as_mut());
            let _ = pin!(polled).poll(&mut Context::from_waker(Waker::noop()));
            format!("{sleep:?}")
        };
        // As arming, it may panic in contexts that those timers do not take.
        cfg!(tokio_unstable)
            && catch_unwind(AssertUnwindSafe(kind)).is_ok_and(|kind| kind.contains("Alternative"))
    }

    /// Has tokio ring at `at` for what is due at `target`. `false` when it rang on the
    /// spot, so that nothing is armed; or when this is for the driver task to do.
    pub(super) fn arm(&mut self, at: Tick, target: Tick) -> bool {
        // Who arms takes rings of tokio's that this makes, and cannot tell them apart.
        self.forget();
        if self.is_workers && !self.is_current() {
            self.armed = Tick::NEVER;
            return false;
        }
        let _arming = Arming::begin();
        let polled = catch_unwind(AssertUnwindSafe(|| self.poll_at(at.to_instant())));
        // It is pending for ever, too, when its runtime has ended.
        let pending = polled.map_or(true, |polled| polled.is_pending());
        self.armed = if pending { target } else { Tick::NEVER };
        pending
    }

    /// Whether a timer made here would be that runtime's.
    fn is_current(&self) -> bool {
        Handle::try_current().is_ok_and(|here| here.id() == self.runtime.id())
    }

    /// Leaves nothing registered with tokio, so that a paused clock is not drawn
    /// to a timer that is gone. An interval that has just yielded a tick, and is
    /// not polled for the next, has no timer.
    pub(super) fn disarm(&mut self, now: Tick) {
        self.arm(now.saturating_sub(PAST), Tick::NEVER);
    }

    fn poll_at(&mut self, at: Instant) -> Poll<Instant> {
        self.interval.reset_at(at);
        let interval = &mut self.interval;
        // An exhausted budget would make it pending without being registered.
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

/// Marks this thread as arming for as long as it lives.
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
