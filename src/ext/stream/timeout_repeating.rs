//! [`StreamExt::timeout_repeating`](super::StreamExt::timeout_repeating).

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use pin_project_lite::pin_project;

use super::fuse::Fuse;
use crate::error::Elapsed;
use crate::interval::Interval;

pin_project! {
    /// Stream returned by [`StreamExt::timeout_repeating`](super::StreamExt::timeout_repeating).
    ///
    /// # Cancel safety
    ///
    /// Dropping a future that waits for the next item loses neither an item nor a tick.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// use futures::StreamExt as _;
    /// use wheel::{Duration, ext::StreamExt as _};
    ///
    /// let every = wheel::interval(Duration::from_secs(1));
    /// let items = futures::stream::iter([1]).timeout_repeating(every);
    /// let items: wheel::ext::stream::TimeoutRepeating<_> = items;
    /// assert_eq!(items.collect::<Vec<_>>().await, [Ok(1)]);
    /// # }
    /// ```
    #[must_use = "streams do nothing unless polled"]
    #[derive(Debug)]
    pub struct TimeoutRepeating<S> {
        #[pin]
        stream: Fuse<S>,
        interval: Interval,
    }
}

impl<S> TimeoutRepeating<S> {
    pub(super) fn new(stream: S, interval: Interval) -> Self {
        TimeoutRepeating {
            stream: Fuse::new(stream),
            interval,
        }
    }
}

impl<S: Stream> Stream for TimeoutRepeating<S> {
    type Item = Result<S::Item, Elapsed>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let me = self.project();
        if let Poll::Ready(item) = me.stream.poll_next(cx) {
            if item.is_some() {
                me.interval.reset();
            }
            return Poll::Ready(item.map(Ok));
        }
        ready!(me.interval.poll_tick(cx));
        Poll::Ready(Some(Err(Elapsed::new())))
    }

    // Any number of errors may precede an item.
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.stream.size_hint().0, None)
    }
}
