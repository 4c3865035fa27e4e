//! The sources that fire the alarm: an interval of Tokio's and, with high resolution, a Linux
//! timerfd. And the *probe*, which asks Tokio which deadlines its time driver has reached.
//!
//! # Ground rules
//!
//! * **Use an [`AlarmTimer`] only under the alarm's mutex**, and take no other lock there than
//!   Tokio's own. Tokio's polls may run user code there: a panic hook, and, without the feature
//!   `tracing`, a subscriber of Tokio's spans. That code must not use timers.
//! * **Once created, an [`AlarmTimer`] does not need the runtime to be current**, because a timer
//!   of Tokio's knows its runtime. So arming works wherever a timer is used, even in a destructor
//!   that runs inside Tokio.
//!
//! # The watchdog
//!
//! **A wake-up that Tokio owes the driver may never come**: if a waker panics, Tokio drops the wakers
//! that it would have woken after that one. The runtime's other workers go on, but no timer would fire
//! again, because every later deadline finds the alarm set for an earlier time. So a second timer of
//! Tokio's fires at most two seconds after the alarm and wakes the same waker, which runs a pass if the
//! target has passed, and is set again otherwise. (If Tokio polls its timers so late that both fire
//! together, the panic may take both along. Then the check for late timers requests a pass: see
//! `pass.rs`.)
//!
//! On a current-thread runtime there is no watchdog: a waker that panics there leaves Tokio no time
//! driver, and a paused clock would advance to the watchdog.
//!
//! # The timerfd
//!
//! Tokio fires at whole milliseconds, up to two milliseconds after the deadline. A timerfd, whose
//! expiry wakes Tokio's I/O driver, fires for deadlines that are at most [`TIMERFD_RANGE`] ahead
//! instead. For a deadline that is further away, Tokio fires [`TIMERFD_RANGE`] before it, and the
//! timerfd is set then. So a service whose timers are seconds away, and are cancelled, makes no
//! system call for them.
//!
//! * **The two sources share one waker.** Once it is woken, neither source counts as set, so a
//!   spurious wake-up may follow.
//! * **A timerfd that has expired but whose wake-up was not delivered yet is not set again.** A
//!   busy runtime polls I/O late and re-arms the alarm often, and each setting would be a system
//!   call.
//! * **The timerfd never fires early.** It is set to the remaining time, for which the real clock
//!   is read last. If the clock may be paused, the timerfd is not used.
//! * **Wake-ups are bounded.** At least the spacing passes from one wake-up to the next, and timers
//!   that become due in between fire together. A timer waits for that only if it is due less than
//!   the spacing after a wake-up.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Poll, Waker};
use std::time::Duration;

use crate::clock::{MILLISECOND, Tick};
use crate::driver::wakers::contain;
use crate::platform::runtime::Handle;
use crate::platform::time::{self, Interval, Sleep};
use crate::platform::{Descriptor, TIMERFD_RANGE, poll_without_budget, thread_local};
use crate::spans;

/// What Tokio does for a driver: the two sources of its alarm, the waker that they share, and the
/// probe.
pub(in crate::driver) struct AlarmTimer {
    pub(in crate::driver) interval: Interval,
    /// The probe. It is registered only while it asks, under the alarm's mutex. (It is a sleep,
    /// because polling an interval that is ready reads the clock.)
    probe: Pin<Box<Sleep>>,
    watchdog: Pin<Box<Sleep>>,
    /// When the watchdog fires, or fired last, or [`Tick::ZERO`] if it is not set.
    watched_at: Tick,
    timerfd: Option<Descriptor>,
    /// When the timerfd expires, or [`Tick::NEVER`] if that is not known.
    pub(super) set_to: Tick,
    /// The timerfd does not expire before this: the spacing after the record was last consumed.
    not_before: Tick,
    pub(super) runtime: Handle,
    /// Called when the alarm fires.
    pub(in crate::driver) waker: Waker,
    /// See the table in `alarm/mod.rs`.
    pub(super) set_for: Tick,
    /// Whether the alarm was last moved to an earlier target, before it fired.
    pub(super) is_falling: bool,
}

impl AlarmTimer {
    /// Creates a timer of the current runtime, whose handle this must be.
    ///
    /// # Panics
    ///
    /// Panics outside a runtime, and in a runtime without timers.
    #[track_caller]
    pub(in crate::driver) fn new(runtime: &Handle, timerfd: Option<Descriptor>) -> Self {
        let _unseen = spans::unseen();
        AlarmTimer {
            // A sleep comes first: if it panics, Tokio reports the caller's line, which `interval`
            // would not.
            probe: Box::pin(time::sleep(Duration::ZERO)),
            watchdog: Box::pin(time::sleep(Duration::ZERO)),
            // Its period is never used, because it is reset before each tick.
            interval: time::interval(Duration::from_millis(1)),
            watched_at: Tick::ZERO,
            timerfd,
            set_to: Tick::NEVER,
            not_before: Tick::ZERO,
            runtime: runtime.clone(),
            waker: Waker::noop().clone(),
            set_for: Tick::NEVER,
            is_falling: false,
        }
    }

    /// Notes that one of the two sources has fired: neither counts as set any more.
    pub(super) fn forget_all(&mut self, not_before: Tick) {
        self.set_for = Tick::NEVER;
        self.set_to = Tick::NEVER;
        self.not_before = not_before;
        self.is_falling = false;
    }

    /// Sets the timerfd for `target` and returns `None`. This call never wakes the waker. Otherwise
    /// returns when the interval must fire: at the target if there is no timerfd or setting it failed,
    /// or, for a target out of range, [`TIMERFD_RANGE`] before it.
    pub(super) fn set_timerfd(&mut self, target: Tick, now: Tick) -> Option<Tick> {
        let Some(timerfd) = &mut self.timerfd else {
            return Some(target);
        };
        if target.saturating_since(now) > TIMERFD_RANGE {
            return Some(target.saturating_sub(TIMERFD_RANGE));
        }
        let is_awaited = self.set_to <= now && now < self.set_to.saturating_add(AWAITED);
        if !is_awaited {
            let at = target.max(self.not_before);
            if at != self.set_to && !timerfd.set(at.to_instant(), &self.waker) {
                return Some(target);
            }
            self.set_to = at;
        }
        self.set_for = target;
        None
    }

    /// Arms Tokio's interval at `at`, for `target`. Returns `false` if nothing is armed, because
    /// the interval fired immediately or Tokio panicked.
    pub(super) fn arm_interval(&mut self, at: Tick, target: Tick) -> bool {
        // This poll may fire the alarm, and then the timerfd must not count as set.
        self.set_to = Tick::NEVER;
        let is_armed = arming(|| {
            self.interval.reset_at(at.to_instant());
            poll_without_budget(poll_fn(|cx| self.interval.poll_tick(cx)), &self.waker)
        });
        self.set_for = if is_armed { target } else { Tick::NEVER };
        is_armed
    }

    /// Sets the watchdog [`WATCH`] after the target, if there is one, unless it will fire already, at most
    /// twice as long after the target. If it fires before the target, it is set again then. So it is set
    /// about once a second, however often the target changes. It stays a tenth of a second from the
    /// target, because a panic takes both wake-ups along if Tokio fires them together.
    pub(super) fn watch(&mut self, target: Tick, now: Tick) {
        let latest = target.saturating_add(2 * WATCH);
        let is_apart = self.watched_at.0.abs_diff(target.0) > 100 * MILLISECOND;
        let is_watched = now < self.watched_at && self.watched_at <= latest && is_apart;
        if target != Tick::NEVER && !is_watched {
            let at = target.saturating_add(WATCH);
            let is_set = arming(|| poll_sleep(self.watchdog.as_mut(), at, &self.waker));
            self.watched_at = if is_set { at } else { Tick::ZERO };
        }
    }

    /// Returns `true` if Tokio has reached the millisecond in which this deadline fires. Leaves the
    /// probe unregistered.
    pub(in crate::driver) fn tokio_has_reached(&mut self, deadline: Tick) -> bool {
        let _unseen = spans::unseen();
        let is_reached = poll_sleep(self.probe.as_mut(), deadline, Waker::noop()).is_ready();
        if !is_reached {
            self.probe.as_mut().reset(Tick::ZERO.to_instant());
        }
        is_reached
    }
}

/// Resets one of Tokio's sleeps to `at` and polls it.
fn poll_sleep(mut sleep: Pin<&mut Sleep>, at: Tick, waker: &Waker) -> Poll<()> {
    sleep.as_mut().reset(at.to_instant());
    poll_without_budget(sleep, waker)
}

/// Resets and polls a timer of Tokio's, which may fire the alarm on this thread. Returns `true` if the
/// timer is pending. Nothing is armed if Tokio panics: a subscriber of its spans panics, or its time
/// driver has ended (see `Alarm::ask`).
fn arming<R>(tokio: impl FnOnce() -> Poll<R>) -> bool {
    let _unseen = spans::unseen();
    ARMING.with(|arming| arming.set(true));
    let polled = contain(tokio);
    ARMING.with(|arming| arming.set(false));
    matches!(polled, Some(Poll::Pending))
}

/// How long after the alarm the watchdog fires.
const WATCH: Duration = Duration::from_secs(1);

thread_local! {
    /// Whether this thread is arming an alarm right now.
    pub(super) static ARMING: Cell<bool> = const { Cell::new(false) };
}

/// How long to wait for the undelivered wake-up of an expired timerfd.
const AWAITED: Duration = Duration::from_millis(10);
