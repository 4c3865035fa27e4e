//! Wakes the task: the queue's only timer, and the waker of the last poll.

use std::task::{Context, Poll, Waker};

use tokio::time::Instant;

use crate::handle::Wheel;
use crate::sleep::{Sleep, sleep_until};

/// No task is waiting: the last poll has returned an entry, or the task has been woken since.
const NOBODY: u64 = 0;

/// A poll has returned that the queue is empty: the next insertion wakes its task.
const ANYTHING: u64 = u64::MAX;

/// Waits for a tick on behalf of the task that polls the queue.
///
/// | `at` | the last poll was | `sleep` | woken by |
/// | --- | --- | --- | --- |
/// | `NOBODY` | ready, or has been followed by a wake | any | nothing |
/// | `ANYTHING` | ready, with the queue empty | none | an insertion |
/// | a tick | pending | registered for that tick | the timer; a change of the queue that changes the answer |
#[derive(Debug)]
pub(super) struct Alarm {
    at: u64,
    /// Moved from deadline to deadline, and made anew only after the queue has been empty.
    sleep: Option<Sleep>,
    /// Kept while no task waits, to be compared with that of the next poll.
    waker: Option<Waker>,
    /// Owner of the timer; `None` for the current runtime's driver.
    wheel: Option<Wheel>,
}

impl Alarm {
    pub(super) const fn new(wheel: Option<Wheel>) -> Self {
        Alarm {
            wheel,
            at: NOBODY,
            sleep: None,
            waker: None,
        }
    }

    /// Whether an entry at this tick comes before the tick waited for.
    #[inline]
    pub(super) const fn is_later_than(&self, tick: u64) -> bool {
        tick < self.at
    }

    /// Whether an entry at this tick may be the entry waited for.
    #[inline]
    pub(super) const fn is_set_for(&self, tick: u64) -> bool {
        tick <= self.at
    }

    /// The task is here, and need not be woken.
    pub(super) fn answer(&mut self) {
        self.at = NOBODY;
    }

    /// Has the task woken at a tick; ready if that has come meanwhile.
    pub(super) fn poll(&mut self, tick: u64, when: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let wheel = &self.wheel;
        let sleep = self.sleep.get_or_insert_with(|| match wheel {
            Some(wheel) => wheel.sleep_until(when),
            None => sleep_until(when),
        });
        if sleep.deadline() != when {
            sleep.reset_unpin(when);
        }
        // The poll of the queue has paid from the task's budget.
        let polled = sleep.poll_unconstrained(cx);
        if polled.is_pending() {
            self.keep(cx);
            self.at = tick;
        }
        polled
    }

    /// Has the task woken by the next insertion.
    pub(super) fn wait_for_anything(&mut self, cx: &mut Context<'_>) {
        self.sleep = None;
        self.keep(cx);
        self.at = ANYTHING;
    }

    fn keep(&mut self, cx: &mut Context<'_>) {
        match &mut self.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            None => self.waker = Some(cx.waker().clone()),
        }
    }

    /// Moves the timer forward to an entry that comes before the tick waited for. Wakes a task that
    /// waits for any insertion.
    pub(super) fn advance(&mut self, tick: u64, when: Instant) {
        if self.at == ANYTHING {
            return self.wake();
        }
        self.at = tick;
        if let Some(sleep) = &mut self.sleep {
            // Wakes the task on the spot if that has passed.
            sleep.reset_unpin(when);
        }
    }

    /// Wakes the task, if waiting.
    pub(super) fn wake(&mut self) {
        if self.at != NOBODY {
            self.at = NOBODY;
            if let Some(waker) = self.waker.take() {
                waker.wake();
            }
        }
    }

    /// There is nothing left to wait for.
    pub(super) fn cancel(&mut self) {
        self.sleep = None;
        self.wake();
    }
}
