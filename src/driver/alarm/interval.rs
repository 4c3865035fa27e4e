//! What fires the alarm: an interval of tokio's, and, with high resolution, a Linux timerfd. And a
//! probe, which asks tokio how far its own time has come.
//!
//! # Ground rules
//!
//! * An [`AlarmTimer`] is used under the alarm's mutex, and no other lock than tokio's own is
//!   taken.
//! * Nothing here needs the runtime to be current, because a timer of tokio's knows its runtime. So
//!   arming works wherever a timer is used, even in a destructor that runs inside tokio.
//! * Arming may fire the interval immediately, on this very thread, if tokio's clock has passed the
//!   time. While [`ARMING`], that is only recorded, and the thread then requests a pass.
//! * A runtime that has ended panics when its interval is polled. A driver is closed, and its
//!   interval taken out, before that. Should tokio ever end things in another order, arming must
//!   not panic all the same, so the panic is caught.
//!
//! # The timerfd
//!
//! tokio fires on its milliseconds, one or two late. A timerfd, whose expiry wakes tokio's I/O
//! driver, fires for near deadlines instead. For a deadline that is further away, tokio fires once
//! the deadline is near, and the timerfd is set then. So a service whose timers are seconds away,
//! and are cancelled, makes no system call for them.
//!
//! * The two sources share one waker. Once it is woken, neither source counts as set; a spurious
//!   wake-up may follow.
//! * A timerfd that has expired and is not yet delivered is not set again, because setting it is a
//!   system call, and a busy runtime polls I/O late and checks for late timers often.
//! * The timerfd never fires early: it is set to the time that is left by the real clock, which is
//!   read last. If the clock may be paused, the timerfd is not used.
//! * **Wake-ups are bounded.** From one wake-up to the next, at least the spacing passes; timers
//!   that become due in between fire together. Only a timer that is due within the spacing of a
//!   wake-up waits for it.

use std::cell::Cell;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::coop;
use tokio::time::{Instant, MissedTickBehavior};

use crate::build_error::BuildError;
use crate::clock::{MILLISECOND, Tick};
use crate::settings::Generation;
use crate::spans;
use crate::sync::time::{self, Interval, Sleep};
use crate::sync::{Descriptor, now_if_current, now_in, thread_local};

/// A runtime's interval, and the tick that it is armed for.
pub(in crate::driver) struct AlarmTimer {
    /// The alarm, as tokio-console sees it.
    _resource: spans::Resource,
    pub(in crate::driver) interval: Interval,
    /// Tells which deadlines tokio has come to; never left registered. (Unlike an interval, a sleep
    /// reads no clock.)
    probe: Pin<Box<Sleep>>,
    /// Fires for near deadlines.
    precise: Option<HighResolution>,
    runtime: Handle,
    /// Called when the alarm fires.
    pub(in crate::driver) waker: Waker,
    /// The driver's.
    pub(in crate::driver) generation: Generation,
    /// The runtime has taken the driver task.
    pub(in crate::driver) has_task: bool,
    /// [`Tick::NEVER`] if nothing is registered with tokio, `None` if it has to be armed again in
    /// any case.
    pub(super) armed: Option<Tick>,
}

impl AlarmTimer {
    /// A timer of the current runtime, whose handle this must be.
    ///
    /// # Panics
    ///
    /// Panics under the same conditions as `tokio::time::interval`: outside a runtime, and in a
    /// runtime without timers.
    #[track_caller]
    pub(in crate::driver) fn new(runtime: &Handle, precise: Option<HighResolution>) -> Self {
        let resource = spans::Resource::alarm();
        let _unseen = spans::unseen();
        // First: tokio's `sleep` reports the caller's line, and its `interval` does not.
        let probe = Box::pin(time::sleep(Duration::ZERO));
        let mut interval = time::interval(Duration::from_millis(1));
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        AlarmTimer {
            _resource: resource,
            interval,
            probe,
            precise,
            runtime: runtime.clone(),
            waker: Waker::noop().clone(),
            generation: 0,
            has_task: false,
            armed: Some(Tick::NEVER),
        }
    }

    /// One of the two sources has fired: neither counts as set any more.
    pub(super) fn forget_all(&mut self, now: Tick) {
        self.armed = Some(Tick::NEVER);
        if let Some(precise) = &mut self.precise {
            precise.last_wakeup = now;
        }
        self.forget_timerfd();
    }

    /// The timerfd may have fired, and have been taken for tokio's interval: it no longer counts as
    /// set.
    pub(super) fn forget_timerfd(&mut self) {
        if let Some(precise) = &mut self.precise {
            precise.set_to = Tick::NEVER;
        }
    }

    /// When tokio is to fire for a deadline: at the deadline; or, if there is a timerfd, early
    /// enough to set that. Sets the timerfd, and returns `None`, if the deadline is near.
    pub(super) fn tokio_fires_at(&mut self, target: Tick, now: Tick) -> Option<Tick> {
        let Some(precise) = &mut self.precise else {
            return Some(target);
        };
        if precise.set(target, now, &self.waker) {
            self.armed = Some(target);
            return None;
        }
        let soonest = now.saturating_add(Duration::from_nanos(1));
        Some(target.saturating_sub(NEAR).max(soonest))
    }

    /// Arms tokio's interval at `at`, for `target`. Returns `false` if the interval fired
    /// immediately, so that nothing is armed.
    pub(super) fn arm(&mut self, at: Tick, target: Tick) -> bool {
        // This poll may fire, and the timerfd's setting does not count then.
        self.forget_timerfd();
        ARMING.with(|arming| arming.set(true));
        let polled = catch_unwind(AssertUnwindSafe(|| self.poll_at(at)));
        // Even if tokio has panicked.
        ARMING.with(|arming| arming.set(false));
        // If tokio panics, because the runtime has ended, or a subscriber of its spans does, nothing is
        // armed.
        let is_pending = polled.is_ok_and(|polled| polled.is_pending());
        self.armed = Some(if is_pending { target } else { Tick::NEVER });
        is_pending
    }

    fn poll_at(&mut self, at: Tick) -> Poll<Instant> {
        let _unseen = spans::unseen();
        self.interval.reset_at(at.to_instant());
        let interval = &mut self.interval;
        // With an exhausted budget the interval would be pending without being registered.
        let tick = coop::unconstrained(poll_fn(|cx| interval.poll_tick(cx)));
        pin!(tick).poll(&mut Context::from_waker(&self.waker))
    }

    /// Whether tokio has come to the millisecond in which this deadline fires. Leaves the probe
    /// unregistered.
    pub(in crate::driver) fn has_come(&mut self, deadline: Tick) -> bool {
        let _unseen = spans::unseen();
        self.probe.as_mut().reset(deadline.to_instant());
        let probe = pin!(coop::unconstrained(self.probe.as_mut()));
        let polled = probe.poll(&mut Context::from_waker(Waker::noop()));
        if polled.is_pending() {
            self.probe.as_mut().reset(Tick::ZERO.to_instant());
        }
        polled.is_ready()
    }

    /// Whether tokio has come to a millisecond of its own, or the clock passed it long ago: tokio
    /// is never ahead of its clock, and is behind it if it has not read the clock for a while.
    pub(in crate::driver) fn has_come_by_now(&mut self, tokios: Tick) -> bool {
        match now_if_current(&self.runtime).map(Tick::of) {
            Some(now) if now < tokios => false,
            Some(now) if now.0 - tokios.0 >= MILLISECOND => true,
            _ => self.has_come(tokios),
        }
    }

    /// Now, by the runtime's own clock. `None` if the runtime cannot be entered.
    pub(super) fn now(&self) -> Option<Tick> {
        now_in(&self.runtime).map(Tick::of)
    }
}

thread_local! {
    /// Whether this thread is arming an alarm right now.
    pub(super) static ARMING: Cell<bool> = const { Cell::new(false) };
}

/// How near a deadline must be for the timerfd to be set.
pub(super) const NEAR: Duration = if cfg!(all(test, loom)) {
    Duration::from_nanos(15)
} else {
    Duration::from_secs(1)
};
/// How long an expired timerfd may take to be delivered.
const AWAITED: Duration = Duration::from_millis(10);
/// From wake-up to wake-up, unless a builder says otherwise.
pub(crate) const DEFAULT_SPACING: Duration = Duration::from_micros(50);

/// A timerfd, and its setting.
pub(crate) struct HighResolution {
    descriptor: Descriptor,
    spacing: Duration,
    /// When a wake-up was last taken.
    last_wakeup: Tick,
    /// When the timerfd expires; [`Tick::NEVER`] if that is not known.
    set_to: Tick,
}

impl HighResolution {
    /// A timerfd of the current runtime.
    #[track_caller]
    pub(crate) fn open(spacing: Duration) -> Result<Self, BuildError> {
        Descriptor::open().map(|descriptor| HighResolution::new(descriptor, spacing))
    }

    pub(in crate::driver) fn new(descriptor: Descriptor, spacing: Duration) -> Self {
        HighResolution {
            descriptor,
            spacing,
            last_wakeup: Tick::ZERO,
            set_to: Tick::NEVER,
        }
    }

    /// Sets the timerfd for `target`, to wake the waker. Returns `false` if that is for tokio,
    /// because the target is far, or the runtime has ended.
    fn set(&mut self, target: Tick, now: Tick, waker: &Waker) -> bool {
        if target.saturating_since(now) > NEAR {
            return false;
        }
        // Expired but not yet delivered: not set again.
        if self.set_to <= now && now < self.set_to.saturating_add(AWAITED) {
            return true;
        }
        let at = target.max(self.last_wakeup.saturating_add(self.spacing));
        if at != self.set_to {
            let is_set = self.descriptor.set(at.to_instant(), waker);
            self.set_to = if is_set { at } else { Tick::NEVER };
        }
        self.set_to == at
    }
}
