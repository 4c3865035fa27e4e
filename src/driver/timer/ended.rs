//! When a timer's driver has ended.
//!
//! Whoever waits is woken, and polls. A timer of the free functions goes on, for the same
//! deadline, in the runtime that it is polled in, if that lives. A runtime that takes no
//! more tasks may still run some, on other workers, until it drops them in a moment. There
//! tokio's own timer takes over: it stays pending as long as such a runtime is driven, and
//! panics after that. Outside of any runtime it panics in tokio's words. A timer of a
//! `Wheel` never goes on elsewhere. (Where tokio's timers are those per worker, one that was
//! registered is ready, as they are.)

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use tokio::runtime::Handle;
use tokio::task::coop;

use super::{Due, OF_A_WHEEL, State, Timer};
use crate::driver::clock::Tick;
use crate::driver::current;
use crate::driver::sync::Ordering;

impl Timer {
    /// See "When its driver has ended".
    ///
    /// # Panics
    ///
    /// Where tokio's timer does, and in its words.
    #[cold]
    pub(super) fn poll_after_the_end(
        &mut self,
        deadline: Tick,
        due: Due,
        waker: &Waker,
    ) -> Poll<()> {
        let last = self.shard.driver.last(self.generation());
        let ends_ready = last
            .as_ref()
            .is_some_and(|last| last.ends_ready.load(Ordering::Relaxed));
        if ends_ready && self.is_elapsed() {
            return self.done();
        }
        let Ok(handle) = Handle::try_current() else {
            shut_down()
        };
        let driver = current::driver_of(&handle);
        if !driver.is_open() {
            return self.stand_in(deadline, waker);
        }
        if self.tenure().is(OF_A_WHEEL) {
            shut_down()
        }
        *self = Timer::in_service(driver, 0);
        // If that one ends meanwhile, it is found to have ended.
        self.poll(deadline, due, waker)
    }

    /// Has a timer of tokio's own do what tokio does in a runtime that ends.
    fn stand_in(&mut self, deadline: Tick, waker: &Waker) -> Poll<()> {
        let tenure = self.tenure();
        if !matches!(self.state, State::StandIn { .. }) {
            let sleep = Box::pin(tokio::time::sleep_until(deadline.to_instant()));
            self.state = State::StandIn { tenure, sleep };
        }
        let State::StandIn { sleep, .. } = &mut self.state else {
            return Poll::Pending;
        };
        let polled = Pin::new(&mut coop::unconstrained(sleep.as_mut()))
            .poll(&mut Context::from_waker(waker));
        if polled.is_ready() {
            // One per worker is so at the end of its runtime, too.
            if Tick::now() < deadline {
                shut_down()
            }
            self.set_done(None);
        }
        polled
    }
}

/// In tokio's words.
fn shut_down() -> ! {
    panic!("A Tokio 1.x context was found, but it is being shutdown.")
}
