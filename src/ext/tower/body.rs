//! [`TimeoutBody`]: a body with a timeout for each frame.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use super::BoxError;
use crate::error::Elapsed;
use crate::sleep::{Sleep, deadline_after, sleep};

pin_project! {
    /// A body with a timeout for each frame.
    ///
    /// The time counts from the poll that finds no frame until the frame arrives, and starts again with
    /// the next wait. This limits how long the peer may be silent, while the whole body may take any
    /// time. A frame that is ready when it is polled for uses no timer.
    ///
    /// # Errors
    ///
    /// Polling returns the inner body's errors, boxed, and [`Elapsed`] if a frame is late.
    ///
    /// # Panics
    ///
    /// If no frame is ready, polling panics outside a Tokio runtime and in a runtime built without
    /// `enable_time`. The panic has Tokio's message.
    ///
    /// # Cancel safety
    ///
    /// Dropping a future that waits for the next frame loses no frame, and does not start the time
    /// again. Dropping the body cancels the timer.
    ///
    /// # Differences from tower-http
    ///
    /// * The body is polled before the timer, so a frame that is ready at the deadline is returned.
    /// * All frames of a body share one timer, which is reset for each wait.
    /// * The error is [`Elapsed`].
    ///
    /// # Examples
    ///
    /// ```
    /// use http_body_util::{BodyExt as _, Full};
    /// use wheel::{Duration, ext::tower::TimeoutBody};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let body: Full<&[u8]> = Full::new(b"hello");
    /// let body = TimeoutBody::new(Duration::from_secs(5), body);
    /// assert_eq!(body.collect().await.unwrap().to_bytes(), "hello");
    /// # }
    /// ```
    #[derive(Debug)]
    pub struct TimeoutBody<B> {
        #[pin]
        body: B,
        timeout: Duration,
        // Created by the first wait for a frame.
        sleep: Option<Sleep>,
        is_waiting: bool,
    }
}

impl<B> TimeoutBody<B> {
    /// Requires each frame of `body` to arrive within `timeout`.
    ///
    /// ```
    /// use http_body_util::BodyExt as _;
    /// use wheel::{Duration, ext::tower::TimeoutBody};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    /// let body = TimeoutBody::new(Duration::from_secs(5), "any body".to_owned());
    /// assert_eq!(body.collect().await?.to_bytes(), "any body");
    /// # Ok(())
    /// # }
    /// ```
    pub const fn new(timeout: Duration, body: B) -> Self {
        TimeoutBody {
            body,
            timeout,
            sleep: None,
            is_waiting: false,
        }
    }
}

impl<B> Body for TimeoutBody<B>
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
        if let Poll::Ready(frame) = me.body.poll_frame(cx) {
            *me.is_waiting = false;
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let sleep = me.sleep.get_or_insert_with(|| sleep(*me.timeout));
        if !*me.is_waiting {
            sleep.reset_lazily(deadline_after(*me.timeout));
            *me.is_waiting = true;
        }
        ready!(Pin::new(sleep).poll(cx));
        Poll::Ready(Some(Err(Elapsed::new().into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
