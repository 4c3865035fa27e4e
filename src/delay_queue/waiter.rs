//! Waking the task that polls the queue, by the queue's only timer or by a change of the queue.

use std::task::{Context, Poll, Waker};

use crate::clock::Tick;
use crate::handle::Handle;
use crate::sleep::{Sleep, sleep_until};

/// Value of [`Waiter::until`] if no task waits, because the last poll returned an entry or the task
/// has been woken since.
const NO_TASK: Tick = Tick::ZERO;

/// Value of [`Waiter::until`] if the last poll returned that the queue is empty. The next insertion
/// wakes its task.
const ANY_INSERTION: Tick = Tick::NEVER;

/// The state of the task that polls the queue: what it waits for, and what wakes it.
///
/// | `until` | the last poll | `sleep` | the task is woken by |
/// | --- | --- | --- | --- |
/// | `NO_TASK` | returned an entry, or the task has been woken since | any | nothing |
/// | `ANY_INSERTION` | returned that the queue is empty | `None` | an insertion |
/// | a tick | was pending | registered for that tick | the timer, or a change of the queue that affects the next poll |
#[derive(Debug)]
pub(super) struct Waiter {
    until: Tick,
    /// The queue's timer. It is reset for each deadline, and dropped when the queue becomes empty.
    sleep: Option<Sleep>,
    /// The waker of the last poll. It is kept while no task waits, because the next poll usually
    /// comes from the same task and then need not clone it again.
    waker: Option<Waker>,
    /// The handle whose driver the timer belongs to, or `None` for the default driver of the
    /// runtime that polls the queue.
    wheel: Option<Handle>,
}

impl Waiter {
    pub(super) const fn new(wheel: Option<Handle>) -> Self {
        Waiter {
            wheel,
            until: NO_TASK,
            sleep: None,
            waker: None,
        }
    }

    /// Returns `true` if an entry at this tick is due before the tick that the task waits for.
    #[inline]
    pub(super) fn waits_beyond(&self, tick: Tick) -> bool {
        tick < self.until
    }

    /// Returns `true` if an entry at this tick may be the one that the task waits for.
    #[inline]
    pub(super) fn may_wait_for(&self, tick: Tick) -> bool {
        tick <= self.until
    }

    /// Stops waiting, because the task is polling the queue and need not be woken.
    pub(super) fn stop(&mut self) {
        self.until = NO_TASK;
    }

    /// Polls the timer, armed for `tick`. Ready if that time has been reached.
    pub(super) fn poll(&mut self, tick: Tick, cx: &mut Context<'_>) -> Poll<()> {
        let wheel = &self.wheel;
        let sleep = self.sleep.get_or_insert_with(|| match wheel {
            Some(wheel) => wheel.sleep_until(tick.to_instant()),
            None => sleep_until(tick.to_instant()),
        });
        if sleep.deadline_tick() != tick {
            sleep.reset_to(tick);
        }
        // Without the task's budget, because polling the queue has already spent from it.
        let polled = sleep.poll_timer(false, cx);
        if polled.is_pending() {
            self.keep_waker(cx);
            self.until = tick;
        }
        polled
    }

    /// Waits for the next insertion, which wakes the task.
    pub(super) fn wait_for_insertion(&mut self, cx: &mut Context<'_>) {
        self.sleep = None;
        self.keep_waker(cx);
        self.until = ANY_INSERTION;
    }

    fn keep_waker(&mut self, cx: &mut Context<'_>) {
        match &mut self.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            None => self.waker = Some(cx.waker().clone()),
        }
    }

    /// Resets the timer to an earlier tick, for an entry that is due before the one that the task
    /// waits for. Wakes the task instead if it waits for any insertion.
    pub(super) fn move_earlier(&mut self, tick: Tick) {
        if self.until == ANY_INSERTION {
            return self.wake();
        }
        self.until = tick;
        if let Some(sleep) = &mut self.sleep {
            // If that time has passed, this wakes the task.
            sleep.reset_to(tick);
        }
    }

    /// Wakes the task if it waits.
    pub(super) fn wake(&mut self) {
        if self.until != NO_TASK {
            self.until = NO_TASK;
            if let Some(waker) = self.waker.take() {
                waker.wake();
            }
        }
    }

    /// Cancels the timer and wakes the task, because the queue has become empty.
    pub(super) fn cancel(&mut self) {
        self.sleep = None;
        self.wake();
    }
}
