//! [`Idle`]: the timeout of a reader or a writer.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use crate::clock::Tick;
use crate::sleep::{Sleep, deadline_after, sleep};

/// A timeout for each wait.
#[derive(Debug, Default)]
pub(super) struct Idle {
    pub(super) timeout: Option<Duration>,
    /// Created by the first wait. The end of a wait leaves the timer as it is, because the next wait
    /// resets it to a later deadline, which is cheaper than arming another timer.
    sleep: Option<Sleep>,
    is_waiting: bool,
}

impl Idle {
    /// Sets the timeout. If a wait is in progress, this wakes its task, and the wait starts again at
    /// the next poll.
    pub(super) fn set(&mut self, timeout: Option<Duration>) {
        self.timeout = timeout;
        if let Some(sleep) = self.sleep.as_mut().filter(|_| self.is_waiting) {
            self.is_waiting = false;
            sleep.reset_to(Tick::now());
        }
    }

    /// Returns what the inner reader or writer returned, or an error if it has been pending for too
    /// long.
    pub(super) fn limit<T>(
        &mut self,
        polled: Poll<io::Result<T>>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if polled.is_pending() {
            ready!(self.poll_elapsed(cx));
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        self.is_waiting = false;
        polled
    }

    fn poll_elapsed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(timeout) = self.timeout else {
            return Poll::Pending;
        };
        let is_new = !std::mem::replace(&mut self.is_waiting, true);
        let sleep = match &mut self.sleep {
            Some(sleep) => {
                if is_new {
                    sleep.reset_to(deadline_after(timeout));
                }
                sleep
            }
            none => none.insert(sleep(timeout)),
        };
        ready!(Pin::new(sleep).poll(cx));
        self.is_waiting = false;
        Poll::Ready(())
    }
}
