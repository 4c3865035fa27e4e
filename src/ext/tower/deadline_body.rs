//! [`DeadlineBody`]: a body with one timeout for all of its frames.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use super::BoxError;
use crate::clock::Tick;
use crate::error::Elapsed;
use crate::sleep::{Sleep, sleep};

pin_project! {
    /// A body with one timeout for all of its frames together.
    ///
    /// The time counts from [`new`](Self::new), even while nobody polls for a frame. Once it has
    /// elapsed, each poll returns the error, even if a frame is ready, so that a peer that always sends
    /// a little more cannot continue forever. [`TimeoutBody`](super::TimeoutBody) limits the silence
    /// between two frames instead. You can wrap a body in both.
    ///
    /// A frame that is ready when it is polled for uses no timer; the poll only reads the clock.
    ///
    /// # Errors
    ///
    /// Polling returns the inner body's errors, boxed, and [`Elapsed`] once the timeout has elapsed.
    ///
    /// # Panics
    ///
    /// [`new`](Self::new) panics outside a Tokio runtime and in a runtime built without `enable_time`.
    ///
    /// # Cancel safety
    ///
    /// Dropping a future that waits for the next frame loses no frame. Dropping the body cancels the
    /// timer.
    ///
    /// # Differences from tower-http
    ///
    /// * The timer is registered at the first poll that finds no frame, rather than at the first poll.
    /// * The error is [`Elapsed`].
    ///
    /// # Examples
    ///
    /// ```
    /// use http_body_util::{BodyExt as _, Full};
    /// use wheel::{Duration, ext::tower::DeadlineBody};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let body: Full<&[u8]> = Full::new(b"hello");
    /// let body = DeadlineBody::new(Duration::from_secs(30), body);
    /// assert_eq!(body.collect().await.unwrap().to_bytes(), "hello");
    /// # }
    /// ```
    #[derive(Debug)]
    pub struct DeadlineBody<B> {
        #[pin]
        body: B,
        sleep: Sleep,
    }
}

impl<B> DeadlineBody<B> {
    /// Requires the whole of `body` to arrive within `timeout` from now.
    ///
    /// # Panics
    ///
    /// Panics outside a Tokio runtime, and in a runtime built without `enable_time`. The panic has
    /// Tokio's message, and the caller's line.
    ///
    /// ```
    /// use http_body_util::BodyExt as _;
    /// use wheel::{Duration, ext::tower::DeadlineBody};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    /// let body = DeadlineBody::new(Duration::from_secs(30), "any body".to_owned());
    /// assert_eq!(body.collect().await?.to_bytes(), "any body");
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn new(timeout: Duration, body: B) -> Self {
        let sleep = sleep(timeout);
        DeadlineBody { body, sleep }
    }
}

impl<B> Body for DeadlineBody<B>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    type Data = B::Data;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, BoxError>>> {
        let me = self.project();
        // In a body that always has a frame, the timer would never be polled.
        if Tick::now() < me.sleep.deadline_tick() {
            if let Poll::Ready(frame) = me.body.poll_frame(cx) {
                return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
            }
            ready!(Pin::new(me.sleep).poll(cx));
        }
        Poll::Ready(Some(Err(Elapsed::new().into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
