//! A Linux timerfd, with which tokio's I/O driver wakes a waker at an instant.
//!
//! `driver/alarm/interval.rs` decides to which instant it is set, and when.

use std::future::poll_fn;
use std::io;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Poll, Waker, ready};
use std::time::Duration;

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::Instant;

use super::really_now;
use crate::build_error::BuildError;
use crate::platform::poll_without_budget;

/// The shortest time that a timerfd can be set to: 0 would disarm it.
const INSTANTLY: Duration = Duration::from_nanos(1);

/// A timerfd, which fires once each time it is set. Like the clock of `Instant`, its clock does not
/// jump, and stops while the machine is suspended. If the process executes another program, the
/// timerfd is closed.
pub(crate) struct Descriptor(AsyncFd<OwnedFd>);

impl Descriptor {
    /// Opens a timerfd for the current runtime, without setting it.
    #[track_caller]
    // `with_interest` is unsound for types that close their descriptor. What replaces it is `unsafe`.
    #[allow(deprecated)]
    pub(crate) fn open() -> Result<Self, BuildError> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags).map_err(io::Error::from);
        // tokio has no function that reports whether a runtime has I/O. Without I/O, this panics, with
        // a message that names the call to enable it.
        let register = AssertUnwindSafe(|| AsyncFd::with_interest(timer?, Interest::READABLE));
        let registered = catch_unwind(register).map_err(|_| BuildError::IoDisabled)?;
        registered.map(Descriptor).map_err(BuildError::Descriptor)
    }

    /// Sets the timerfd to wake `waker` at this time, instead of what it was set to before. Returns
    /// `false` if the runtime has shut down.
    pub(crate) fn set(&mut self, at: Instant, waker: &Waker) -> bool {
        if !self.listen(waker) {
            return false;
        }
        // A timerfd accepts the remaining time, which is the same by every clock. The clock is read
        // as late as possible.
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

    /// Registers the waker for the next expiry, and clears tokio's note of earlier ones. The descriptor
    /// need not be read, because setting a timerfd discards an expiry that has not been read.
    fn listen(&self, waker: &Waker) -> bool {
        let wait = poll_fn(|cx| {
            loop {
                match ready!(self.0.poll_read_ready(cx)) {
                    Ok(mut expired) => expired.clear_ready(),
                    Err(_ended) => return Poll::Ready(()),
                }
            }
        });
        poll_without_budget(wait, waker).is_pending()
    }
}
