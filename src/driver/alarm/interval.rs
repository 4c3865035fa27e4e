//! An interval of tokio's: arming, and the runtime that drives the interval; and a probe, which asks
//! that runtime how far it has come.
//!
//! # Ground rules
//!
//! * An [`AlarmTimer`] is used under the lock of the alarm's timer, and no other lock but tokio's
//!   own is taken.
//! * Nothing here needs the runtime to be current: a timer of tokio's knows its runtime. So arming
//!   works wherever a timer is used, also in a destructor that runs inside of tokio.
//! * Arming may ring at once, on this very thread, if tokio's clock has passed the time.
//!   Such a ring fires nothing (arming never fires another task's timer): where [`is_arming`],
//!   the ring is only recorded. The armer then asks the driver task for a turn.
//! * A runtime that has ended panics when its interval is polled. A driver is closed, and
//!   its interval taken out, before that. Should tokio ever end things in another order,
//!   arming must not panic all the same: the panic is caught.

use std::cell::Cell;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::coop;
use tokio::time::{Instant, MissedTickBehavior};

use super::timerfd::{HighResolution, NEAR};
use crate::clock::{MILLISECOND, Tick};
use crate::settings::Generation;
use crate::sync::time::{self, Interval, Sleep};
use crate::sync::{now_if_current, now_in, thread_local};

/// Tells which deadlines tokio has come to; never left registered. (Unlike an interval, a sleep reads
/// no clock.)
type Probe = Pin<Box<Sleep>>;

/// A runtime's interval, and the tick that it is armed for.
pub(in crate::driver) struct AlarmTimer {
    pub(in crate::driver) interval: Interval,
    probe: Probe,
    /// Rings for near deadlines.
    precise: Option<HighResolution>,
    runtime: Handle,
    /// Called when the alarm rings.
    waker: Waker,
    /// The driver's.
    pub(super) generation: Generation,
    /// The runtime has taken the driver task.
    pub(in crate::driver) runs: bool,
    /// [`Tick::NEVER`] when nothing is registered with tokio.
    pub(super) armed: Tick,
}

impl AlarmTimer {
    /// A timer of the current runtime, whose handle this must be.
    ///
    /// # Panics
    ///
    /// As `tokio::time::interval`: without a runtime, or in a runtime without timers.
    #[track_caller]
    pub(in crate::driver) fn new(runtime: &Handle, precise: Option<HighResolution>) -> Self {
        // First: tokio's `sleep` reports the caller's line where its `interval` does not.
        let probe = Box::pin(time::sleep(Duration::ZERO));
        let mut interval = time::interval(Duration::from_millis(1));
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        AlarmTimer {
            interval,
            probe,
            precise,
            runtime: runtime.clone(),
            waker: Waker::noop().clone(),
            generation: 0,
            runs: false,
            armed: Tick::NEVER,
        }
    }

    /// Begins to ring for a driver: calls this waker.
    pub(in crate::driver) fn ring(mut self, generation: Generation, waker: Waker) -> Self {
        (self.generation, self.waker) = (generation, waker);
        self
    }

    /// Either of the two sources has rung: neither counts as set any more.
    pub(super) fn forget_all(&mut self, now: Tick) {
        self.armed = Tick::NEVER;
        if let Some(precise) = &mut self.precise {
            precise.note_ring(now);
        }
    }

    /// The timerfd no longer counts as set.
    pub(super) fn forget_timerfd(&mut self) {
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
        Some(target.saturating_sub(NEAR).max(soonest))
    }

    /// Has tokio ring at `at` for `target`. Returns false when tokio rang on the spot, so that
    /// nothing is armed.
    pub(super) fn arm(&mut self, at: Tick, target: Tick) -> bool {
        // This poll may ring: the timerfd's setting does not count any more.
        self.forget_timerfd();
        ARMING.with(|arming| arming.set(true));
        let polled = catch_unwind(AssertUnwindSafe(|| self.poll_at(at)));
        // Also where tokio has panicked.
        ARMING.with(|arming| arming.set(false));
        // A poll that panics, for the runtime has ended, counts as pending for ever.
        let pending = polled.map_or(true, |polled| polled.is_pending());
        self.armed = if pending { target } else { Tick::NEVER };
        pending
    }

    /// Whether tokio has come to the millisecond that this deadline fires in. Leaves nothing of the
    /// probe registered.
    pub(super) fn has_come(&mut self, deadline: Tick) -> bool {
        self.probe.as_mut().reset(deadline.to_instant());
        let probe = pin!(coop::unconstrained(self.probe.as_mut()));
        let polled = probe.poll(&mut Context::from_waker(Waker::noop()));
        if polled.is_pending() {
            self.probe.as_mut().reset(Tick::ZERO.to_instant());
        }
        polled.is_ready()
    }

    /// The same of a millisecond of tokio's, or the clock was there long ago: tokio is never ahead of
    /// its clock, and is behind where it has not looked at the clock for a while.
    pub(super) fn has_come_by_now(&mut self, tokios: Tick) -> bool {
        match now_if_current(&self.runtime).map(Tick::of) {
            Some(now) if now < tokios => false,
            Some(now) if now.0 - tokios.0 >= MILLISECOND => true,
            _ => self.has_come(tokios),
        }
    }

    /// Now, by the runtime's own clock. `None` where the runtime cannot be entered.
    pub(super) fn now(&self) -> Option<Tick> {
        now_in(&self.runtime).map(Tick::of)
    }

    fn poll_at(&mut self, at: Tick) -> Poll<Instant> {
        self.interval.reset_at(at.to_instant());
        let interval = &mut self.interval;
        // With an exhausted budget the interval would be pending without being registered.
        let tick = coop::unconstrained(poll_fn(|cx| interval.poll_tick(cx)));
        pin!(tick).poll(&mut Context::from_waker(&self.waker))
    }
}

thread_local! {
    static ARMING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is arming right now.
pub(super) fn is_arming() -> bool {
    ARMING.with(Cell::get)
}
