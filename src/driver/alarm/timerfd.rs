//! High resolution: a Linux timerfd, whose expiry wakes tokio's I/O driver, and its setting.
//!
//! tokio rings on its milliseconds, one or two late. Where a driver has a timerfd, the timerfd
//! rings for near deadlines. For a deadline that is further away tokio rings once the deadline is
//! near, and the timerfd is set then. So a service whose timers are seconds away, and are cancelled,
//! makes no call of the kernel for them.
//!
//! # Ground rules
//!
//! * The two sources share one waker. After a wake-up neither source counts as set; a spurious
//!   wake-up may follow.
//! * A timerfd that has expired and is not yet delivered is not set again. Setting is a call of the
//!   kernel, and a busy runtime looks at I/O late and at overdue timers often.
//! * The timerfd never rings early: the setting is the time that is left, by the real clock, read
//!   last. Where a clock may be paused, the timerfd is not used.
//! * **Wake-ups are bounded.** From a wake-up to the next at least the spacing passes: timers that
//!   are due meanwhile fire together. Only a timer that is due within the spacing of a wake-up waits.
//! * The timerfd rings on the thread that drives I/O, inside tokio's turn, with none of tokio's
//!   locks held: as the alarm does on the thread that drives time.

use std::task::Waker;
use std::time::Duration;

#[cfg(not(all(feature = "high-resolution", target_os = "linux", not(all(test, loom)))))]
use self::fallback::Descriptor;
#[cfg(all(feature = "high-resolution", target_os = "linux", not(all(test, loom))))]
use self::linux::Descriptor;
use crate::build_error::BuildError;
use crate::driver::clock::Tick;

/// Deadlines within this use the timerfd.
pub(super) const NEAR: Duration = if cfg!(all(test, loom)) {
    Duration::from_nanos(15)
} else {
    Duration::from_secs(1)
};
/// Time allowed for an expired timerfd's wake-up.
const AWAITED: Duration = Duration::from_millis(10);
/// From wake-up to wake-up, unless a builder says otherwise.
pub(crate) const DEFAULT_SPACING: Duration = Duration::from_micros(50);

/// A timerfd, and its setting.
pub(crate) struct HighResolution {
    descriptor: Descriptor,
    spacing: Duration,
    /// When a wake-up was last taken.
    last_ring: Tick,
    /// When the timerfd expires; [`Tick::NEVER`] if that is not known.
    set_to: Tick,
}

impl HighResolution {
    /// A timerfd of the current runtime.
    #[track_caller]
    pub(crate) fn open(spacing: Duration) -> Result<Self, BuildError> {
        let descriptor = Descriptor::open();
        descriptor.map(|descriptor| HighResolution::new(descriptor, spacing))
    }

    pub(in crate::driver) fn new(descriptor: Descriptor, spacing: Duration) -> Self {
        HighResolution {
            descriptor,
            spacing,
            last_ring: Tick::ZERO,
            set_to: Tick::NEVER,
        }
    }

    /// There was a wake-up, which has been taken `now`.
    pub(super) fn note_ring(&mut self, now: Tick) {
        self.last_ring = now;
        self.forget();
    }

    /// A wake-up may have come, and have been taken for a ring of tokio's.
    pub(super) fn forget(&mut self) {
        self.set_to = Tick::NEVER;
    }

    /// Has the waker woken for `target`. Returns false if that is for tokio: the target is far, or
    /// the runtime has ended.
    pub(super) fn set(&mut self, target: Tick, now: Tick, waker: &Waker) -> bool {
        if target.saturating_since(now) > NEAR {
            return false;
        }
        // Expired but not yet delivered: not set again.
        if self.set_to <= now && now < self.set_to.saturating_add(AWAITED) {
            return true;
        }
        let at = target.max(self.last_ring.saturating_add(self.spacing));
        if at != self.set_to {
            let set = self.descriptor.set(at, waker);
            self.set_to = if set { at } else { Tick::NEVER };
        }
        self.set_to == at
    }
}

#[cfg(all(feature = "high-resolution", target_os = "linux", not(all(test, loom))))]
mod linux {
    //! The timerfd itself.

    use std::future::{Future, poll_fn};
    use std::io;
    use std::os::fd::OwnedFd;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::pin::pin;
    use std::task::{Context, Poll, Waker, ready};
    use std::time::Duration;

    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use tokio::io::unix::AsyncFd;
    use tokio::task::coop;

    use crate::build_error::BuildError;
    use crate::driver::clock::Tick;

    /// The least setting: 0 would disarm the timerfd.
    const INSTANTLY: Duration = Duration::from_nanos(1);

    /// Rings once per setting. Its clock stands still while the machine is suspended, and does not
    /// jump, like that of `Instant`. The timerfd is closed where another program is executed.
    pub(crate) struct Descriptor(AsyncFd<OwnedFd>);

    impl Descriptor {
        /// Of the current runtime; not set.
        #[track_caller]
        pub(crate) fn open() -> Result<Self, BuildError> {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let timer = timerfd_create(TimerfdClockId::Monotonic, flags).map_err(io::Error::from);
            // tokio has no way to tell whether a runtime has I/O: `register` panics, and names the
            // call that enables I/O.
            let register = AssertUnwindSafe(|| register(timer?));
            let registered = catch_unwind(register).map_err(|_| BuildError::IoDisabled)?;
            registered.map(Descriptor).map_err(BuildError::Descriptor)
        }

        /// Has the waker woken at this time, in place of the setting before. `false` when the
        /// runtime has ended.
        pub(crate) fn set(&mut self, at: Tick, waker: &Waker) -> bool {
            if !self.listen(waker) {
                return false;
            }
            // A time that is left means the same by every clock; and the clock is read last.
            let left = at.saturating_since(Tick::really_now()).max(INSTANTLY);
            let Ok(it_value) = Timespec::try_from(left) else {
                return false;
            };
            let once = Itimerspec {
                it_interval: Timespec::default(),
                it_value,
            };
            timerfd_settime(self.0.get_ref(), TimerfdTimerFlags::empty(), &once).is_ok()
        }

        /// Forgets rings of before, and has the waker woken by the next. Setting a timerfd
        /// takes back an expiry, so nothing has to be read.
        fn listen(&self, waker: &Waker) -> bool {
            let wait = poll_fn(|cx| {
                loop {
                    match ready!(self.0.poll_read_ready(cx)) {
                        Ok(mut rung) => rung.clear_ready(),
                        Err(_ended) => return Poll::Ready(()),
                    }
                }
            });
            // With an exhausted budget this would be pending without being registered.
            let wait = pin!(coop::unconstrained(wait));
            wait.poll(&mut Context::from_waker(waker)).is_pending()
        }
    }

    #[track_caller]
    #[allow(
        deprecated,
        reason = "unsound for types that close their descriptor; what replaces it is `unsafe`"
    )]
    fn register(timer: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
        AsyncFd::with_interest(timer, tokio::io::Interest::READABLE)
    }
}

/// Elsewhere than on Linux, and without the feature, there is no timerfd: the type has no value,
/// and code that would use a value is compiled to nothing. The models have a type of their own.
#[cfg(not(all(feature = "high-resolution", target_os = "linux", not(all(test, loom)))))]
mod fallback {
    #[cfg(all(test, loom))]
    pub(super) use crate::driver::loom::fake::Descriptor;

    #[cfg(not(all(test, loom)))]
    pub(crate) enum Descriptor {}

    #[cfg(not(all(test, loom)))]
    impl Descriptor {
        pub(super) fn open() -> Result<Self, crate::build_error::BuildError> {
            Err(crate::build_error::BuildError::NoHighResolution)
        }

        pub(super) fn set(&mut self, _: crate::driver::clock::Tick, _: &std::task::Waker) -> bool {
            match *self {}
        }
    }
}
