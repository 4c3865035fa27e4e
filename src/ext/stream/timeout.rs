//! [`StreamExt::timeout`](super::StreamExt::timeout).

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use pin_project_lite::pin_project;

use super::fuse::Fuse;
use crate::error::Elapsed;
use crate::sleep::{Sleep, deadline_after, sleep};

pin_project! {
    /// Stream returned by [`StreamExt::timeout`](super::StreamExt::timeout).
    ///
    /// # Cancel safety
    ///
    /// Dropping a future that waits for the next item loses no item, and does not start the time again.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// use futures::StreamExt as _;
    /// use wheel::{Duration, ext::StreamExt as _};
    ///
    /// let items = futures::stream::iter([1]).timeout(Duration::from_secs(1));
    /// let items: wheel::ext::stream::Timeout<_> = items;
    /// assert_eq!(items.collect::<Vec<_>>().await, [Ok(1)]);
    /// # }
    /// ```
    #[must_use = "streams do nothing unless polled"]
    #[derive(Debug)]
    pub struct Timeout<S> {
        #[pin]
        stream: Fuse<S>,
        delay: Sleep,
        duration: Duration,
        // `false` once the error for the next item has been yielded. Each item is late at most once.
        in_time: bool,
    }
}

impl<S> Timeout<S> {
    #[track_caller]
    pub(super) fn new(stream: S, duration: Duration) -> Self {
        Timeout {
            stream: Fuse::new(stream),
            delay: sleep(duration),
            duration,
            in_time: true,
        }
    }
}

impl<S: Stream> Stream for Timeout<S> {
    type Item = Result<S::Item, Elapsed>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let me = self.project();
        if let Poll::Ready(item) = me.stream.poll_next(cx) {
            if item.is_some() {
                // Registers nothing: the first wait for an item does, and a burst has few waits.
                me.delay.reset_lazily(deadline_after(*me.duration));
                *me.in_time = true;
            }
            return Poll::Ready(item.map(Ok));
        }
        if *me.in_time {
            ready!(Pin::new(me.delay).poll(cx));
            *me.in_time = false;
            return Poll::Ready(Some(Err(Elapsed::new())));
        }
        Poll::Pending
    }

    // There may be an error before each item, and another one before the end.
    fn size_hint(&self) -> (usize, Option<usize>) {
        let (lower, upper) = self.stream.size_hint();
        let upper = upper.and_then(|upper| upper.checked_mul(2)?.checked_add(1));
        (lower, upper)
    }
}
