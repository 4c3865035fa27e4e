//! Generics over the types that tokio's timers return.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::time as t;

/// Counts late calls.
pub struct Counted<F> {
    inner: Pin<Box<t::Timeout<F>>>,
    late: &'static str,
}

impl<F: Future> Counted<F> {
    pub fn new(late: &'static str, inner: t::Timeout<F>) -> Self {
        let inner = Box::pin(inner);
        Counted { inner, late }
    }
}

impl<F: Future> Future for Counted<F> {
    type Output = Result<F::Output, t::error::Elapsed>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let output = std::task::ready!(self.inner.as_mut().poll(cx));
        if output.is_err() {
            metrics::counter!(self.late).increment(1);
        }
        Poll::Ready(output)
    }
}

pub trait Limit: IntoFuture + Sized {
    fn limit(self, by: t::Duration) -> Counted<Self::IntoFuture> {
        Counted::new("late", ::tokio::time::timeout(by, self))
    }
}

impl<F: IntoFuture> Limit for F {}

#[tokio::test(start_paused = true)]
async fn what_is_late_ends() {
    let deadline = t::Instant::now() + t::Duration::from_millis(30);
    assert_eq!(async { 5 }.limit(t::Duration::from_millis(10)).await, Ok(5));
    let never = std::future::pending::<()>();
    assert!(
        Counted::new("late", t::timeout_at(deadline, never))
            .await
            .is_err()
    );
    assert_eq!(t::Instant::now(), deadline);
}
