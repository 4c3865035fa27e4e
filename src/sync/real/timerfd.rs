//! A Linux timerfd: wakes a waker at an instant, by way of tokio's I/O driver.
//!
//! What it is set to, and when, is in `driver/alarm/interval.rs`.

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
use tokio::time::Instant;

use super::really_now;
use crate::build_error::BuildError;

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
    pub(crate) fn set(&mut self, at: Instant, waker: &Waker) -> bool {
        if !self.listen(waker) {
            return false;
        }
        // A time that is left means the same by every clock; and the clock is read last.
        let left = at.saturating_duration_since(really_now()).max(INSTANTLY);
        let Ok(it_value) = Timespec::try_from(left) else {
            return false;
        };
        let once = Itimerspec {
            it_interval: Timespec::default(),
            it_value,
        };
        timerfd_settime(self.0.get_ref(), TimerfdTimerFlags::empty(), &once).is_ok()
    }

    /// Forgets earlier expiries, and wakes the waker at the next. Setting a timerfd takes an expiry
    /// back, so nothing has to be read.
    fn listen(&self, waker: &Waker) -> bool {
        let wait = poll_fn(|cx| {
            loop {
                match ready!(self.0.poll_read_ready(cx)) {
                    Ok(mut expired) => expired.clear_ready(),
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
