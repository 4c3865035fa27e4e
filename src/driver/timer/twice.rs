//! A timer that was made on a worker, and is polled where another runtime is current.
//!
//! A worker's timers are taken for its own runtime's, without asking which one is current: see
//! `current.rs`. Most are polled by a task on such a worker, and that is the end of it. But one
//! that is made inside `enter()` or a nested `block_on` may be polled by whatever drives that
//! other runtime, while the worker blocks. Whose it is nothing tells, and only one of the two
//! may be driven. So it is registered with both, and fires with the first.

use std::task::{Poll, Waker};

use super::{Due, State, Tenure, Timer};
use crate::driver::clock::Tick;
use crate::driver::{DriverRef, current, waker_id};

/// With the worker's own runtime; with the other one.
pub(super) type Timers = [Timer; 2];

impl Timer {
    /// Whether a task polls this on a worker of the runtime that it was taken for. There that
    /// is driven: a worker that blocks may drive a future by itself, but no task of its own.
    #[inline]
    pub(super) fn is_polled_at_home(&self, waker: &Waker) -> bool {
        waker_id::is_of_a_task(waker) && current::is_worker_of(self.shard.driver, self.generation())
    }

    /// Elsewhere it may be the runtime's that was taken for its own, or the current one's:
    /// nothing tells, and only one of them may be driven.
    #[cold]
    pub(super) fn settle(&mut self) {
        let waits = matches!(self.state, State::Idle { .. } | State::Registered { .. });
        if !waits || self.is_elapsed() {
            return;
        }
        let foreign = |here: &DriverRef| !std::ptr::eq(here.driver, self.shard.driver);
        let Some(here) = current::driver_here().filter(foreign) else {
            return;
        };
        // A reset has registered it, or a task that polled it before.
        self.cancel();
        let tenure = Tenure::new(self.generation(), 0);
        let timers = [Timer::at(self.shard, tenure), Timer::in_service(here, 0)];
        let timers = Box::new(timers);
        self.state = State::Twice { tenure, timers };
    }
}

/// Polls both, be the first ready or not: each has to know the last waker. The other runtime
/// may end before the worker's own: that is no end of the timer.
#[cold]
pub(super) fn poll(timers: &mut Timers, deadline: Tick, due: Due, waker: &Waker) -> Poll<()> {
    let [own, here] = timers;
    let polled = own.poll(deadline, due, waker);
    let fired = !here.has_ended() && here.poll(deadline, due, waker).is_ready();
    if fired { Poll::Ready(()) } else { polled }
}

pub(super) fn is_elapsed([own, here]: &Timers) -> bool {
    own.is_elapsed() || (here.is_elapsed() && !here.has_ended())
}
