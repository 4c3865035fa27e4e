//! After the driver's end: its timers were woken, and are polled.
//!
//! The timer goes on, for the same deadline, in the runtime of that poll, if that lives. A runtime
//! that ends may still run some tasks for a moment: there tokio's own timer takes over, which stays
//! pending as long as such a runtime is driven, and panics after that. A poll outside of any runtime
//! panics in tokio's words.
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
use crate::driver::registry;

impl Timer {
    /// # Panics
    ///
    /// Where tokio's timer does, and in its words.
    #[cold]
    pub(super) fn poll_after_the_end(&mut self, deadline: Tick, waker: &Waker) -> Poll<()> {
        let Ok(handle) = Handle::try_current() else {
            shut_down()
        };
        let driver = registry::driver_of(&handle);
        if !driver.is_open() {
            return self.poll_fallback(deadline, waker);
        }
        *self = Timer::of_driver(driver);
        // If that driver ends meanwhile, the poll finds so.
        self.poll(deadline, waker)
    }

    /// Hands over to a timer of tokio's own: in a runtime that ends, both behave alike.
    fn poll_fallback(&mut self, deadline: Tick, waker: &Waker) -> Poll<()> {
        let generation = self.generation();
        if !matches!(self.state, State::Fallback { .. }) {
            let sleep = Box::pin(tokio::time::sleep_until(deadline.to_instant()));
            self.state = State::Fallback { generation, sleep };
        }
        let State::Fallback { sleep, .. } = &mut self.state else {
            return Poll::Pending;
        };
        let mut poll = |waker| {
            let sleep = pin!(coop::unconstrained(sleep.as_mut()));
            sleep.poll(&mut Context::from_waker(waker))
        };
        let polled = poll(waker);
        if polled.is_ready() {
            // Where the end has fired the timer, this panics: no timer is early.
            let _still_ready = poll(Waker::noop());
            self.set_done();
        }
        polled
    }
}

/// In tokio's words.
fn shut_down() -> ! {
    panic!("A Tokio 1.x context was found, but it is being shutdown.")
}
