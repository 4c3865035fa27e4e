//! A timer of tokio's own, which takes over after the driver's end: its timers were woken, and are
//! polled.
//!
//! The timer goes on, for the same deadline, in the runtime of that poll. A poll outside of any runtime
//! panics in tokio's words. In a runtime that ends, tokio's timer stays pending as long as that is
//! driven, and panics after that.
//!
//! At the very end tokio's own timer may be early. A runtime that ends marks itself as ended, and then
//! fires all of its timers. A poll looks for the mark first, and at the timer after that: if the
//! runtime ends in between, the poll is ready, however far the deadline is. A second poll sees the mark.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use tokio::runtime::Handle;
use tokio::task::coop;

use super::{State, Timer};
use crate::clock::Tick;

impl Timer {
    /// # Panics
    ///
    /// Where tokio's timer does, and in its words.
    #[cold]
    pub(super) fn hand_over(&mut self, deadline: Tick) {
        if Handle::try_current().is_err() {
            // In tokio's words.
            panic!("A Tokio 1.x context was found, but it is being shutdown.");
        }
        let generation = self.generation();
        let sleep = Box::pin(tokio::time::sleep_until(deadline.to_instant()));
        self.state = State::Tokios { generation, sleep };
    }

    #[cold]
    pub(super) fn poll_tokios(&mut self, waker: &Waker) -> Poll<()> {
        let State::Tokios { sleep, .. } = &mut self.state else {
            return Poll::Pending;
        };
        let mut poll = || {
            let sleep = pin!(coop::unconstrained(sleep.as_mut()));
            sleep.poll(&mut Context::from_waker(waker))
        };
        let polled = poll();
        if polled.is_ready() {
            // Where the end has fired the timer, this panics: no timer is early.
            let _still_ready = poll();
        }
        polled
    }
}
