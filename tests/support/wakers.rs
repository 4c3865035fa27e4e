//! A waker that calls a function, and a single poll with a waker.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use tokio::task::coop;
use wheel::Sleep;

/// Polls once, regardless of the task's budget.
pub fn poll<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    pin!(coop::unconstrained(future)).poll(&mut Context::from_waker(waker))
}

/// Polls once with a waker that does nothing.
pub fn poll_quietly<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    poll(future, Waker::noop())
}

/// Polls a future once with a waker, asserts that it is pending, and returns it. A timer is armed then.
#[track_caller]
pub fn armed_with<F: Future + Unpin>(mut future: F, waker: &Waker) -> F {
    assert!(poll(&mut future, waker).is_pending());
    future
}

/// Does the same with a waker that does nothing.
#[track_caller]
pub fn armed<F: Future + Unpin>(future: F) -> F {
    armed_with(future, Waker::noop())
}

/// Returns a timer that is armed with a waker that does nothing.
#[track_caller]
pub fn pending(duration: Duration) -> Sleep {
    armed(wheel::sleep(duration))
}

/// A waker that calls a function.
pub struct OnWake<F>(pub F);

impl<F: Fn() + Send + Sync + 'static> OnWake<F> {
    pub fn waker(f: F) -> Waker {
        Waker::from(Arc::new(OnWake(f)))
    }
}

impl<F: Fn() + Send + Sync + 'static> Wake for OnWake<F> {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }
}
