//! A Linux timer whose expiry wakes tokio's I/O driver. Elsewhere, and without the feature,
//! there is none: the type has no value, and what would use one is compiled to nothing.

#[cfg(not(all(feature = "high-resolution", target_os = "linux")))]
pub(crate) use self::none::Descriptor;
#[cfg(all(feature = "high-resolution", target_os = "linux"))]
pub(crate) use self::timerfd::Descriptor;

#[cfg(all(feature = "high-resolution", target_os = "linux"))]
mod timerfd {
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

    /// The least that can be set: 0 would disarm it.
    const INSTANTLY: Duration = Duration::from_nanos(1);

    /// Rings once when it is set. Its clock stands still while the machine is suspended, and
    /// does not jump, like that of `Instant`. It is closed where another program is executed.
    pub(crate) struct Descriptor(AsyncFd<OwnedFd>);

    impl Descriptor {
        /// Of the current runtime; not set.
        #[track_caller]
        pub(crate) fn open() -> Result<Self, BuildError> {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let timer = timerfd_create(TimerfdClockId::Monotonic, flags).map_err(io::Error::from);
            // tokio tells nobody whether a runtime has I/O: it panics, and says what to call.
            let register = AssertUnwindSafe(|| register(timer?));
            let registered = catch_unwind(register).map_err(|_| BuildError::IoDisabled)?;
            registered.map(Descriptor).map_err(BuildError::Descriptor)
        }

        /// Has the waker woken at this time, in place of what was set before. `false` when
        /// the runtime has ended.
        pub(crate) fn set(&mut self, at: Tick, waker: &Waker) -> bool {
            if !self.listen(waker) {
                return false;
            }
            // A time that is left means the same by every clock; and it is read last.
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
            // An exhausted budget would make it pending without being registered.
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

#[cfg(not(all(feature = "high-resolution", target_os = "linux")))]
mod none {
    use std::task::Waker;

    use crate::build_error::BuildError;
    use crate::driver::clock::Tick;

    pub(crate) enum Descriptor {}

    impl Descriptor {
        pub(crate) fn open() -> Result<Self, BuildError> {
            Err(BuildError::NoHighResolution)
        }

        pub(crate) fn set(&mut self, _: Tick, _: &Waker) -> bool {
            match *self {}
        }
    }
}
