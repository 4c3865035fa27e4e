//! [`StreamExt::chunks_timeout`](super::StreamExt::chunks_timeout).

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use pin_project_lite::pin_project;

use super::fuse::Fuse;
use crate::sleep::{Sleep, sleep};

/// Maximum number of items that memory is preallocated for. A larger batch grows.
const PREALLOCATED: usize = 1024;

pin_project! {
    /// Stream returned by [`StreamExt::chunks_timeout`](super::StreamExt::chunks_timeout).
    ///
    /// # Cancel safety
    ///
    /// Dropping a future that waits for the next batch loses no item: the stream keeps the batch.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// use futures::StreamExt as _;
    /// use wheel::{Duration, ext::StreamExt as _};
    ///
    /// let chunks = futures::stream::iter(1..=3).chunks_timeout(2, Duration::from_secs(1));
    /// let chunks: wheel::ext::stream::ChunksTimeout<_> = chunks;
    /// assert_eq!(chunks.collect::<Vec<_>>().await, [vec![1, 2], vec![3]]);
    /// # }
    /// ```
    #[must_use = "streams do nothing unless polled"]
    #[derive(Debug)]
    pub struct ChunksTimeout<S: Stream> {
        #[pin]
        stream: Fuse<S>,
        items: Vec<S::Item>,
        max_size: usize,
        // `Some` while there are items.
        delay: Option<Sleep>,
        duration: Duration,
    }
}

impl<S: Stream> ChunksTimeout<S> {
    pub(super) fn new(stream: S, max_size: usize, duration: Duration) -> Self {
        ChunksTimeout {
            stream: Fuse::new(stream),
            items: Vec::new(),
            max_size,
            delay: None,
            duration,
        }
    }

    /// Removes and returns the items that have been collected but not yielded.
    ///
    /// ```
    /// use futures::StreamExt as _;
    /// use wheel::{Duration, ext::StreamExt};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let items = futures::stream::iter([1, 2]).chain(futures::stream::pending());
    /// let mut batches = std::pin::pin!(items.chunks_timeout(3, Duration::from_secs(60)));
    /// assert!(futures::poll!(batches.next()).is_pending());
    /// assert_eq!(batches.into_remainder(), [1, 2]);
    /// # }
    /// ```
    pub fn into_remainder(self: Pin<&mut Self>) -> Vec<S::Item> {
        let me = self.project();
        *me.delay = None;
        mem::take(me.items)
    }

    /// Adds an item to the batch. Returns `true` if the batch is full then.
    fn push(self: Pin<&mut Self>, item: S::Item) -> bool {
        let me = self.project();
        if me.items.is_empty() {
            *me.delay = Some(sleep(*me.duration));
            me.items.reserve_exact((*me.max_size).min(PREALLOCATED));
        }
        me.items.push(item);
        me.items.len() >= *me.max_size
    }
}

impl<S: Stream> Stream for ChunksTimeout<S> {
    type Item = Vec<S::Item>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Vec<S::Item>>> {
        while let Poll::Ready(item) = self.as_mut().project().stream.poll_next(cx) {
            let Some(item) = item else {
                let last = self.into_remainder();
                return Poll::Ready((!last.is_empty()).then_some(last));
            };
            if self.as_mut().push(item) {
                return Poll::Ready(Some(self.into_remainder()));
            }
        }
        let Some(delay) = self.as_mut().project().delay else {
            return Poll::Pending;
        };
        ready!(Pin::new(delay).poll(cx));
        Poll::Ready(Some(self.into_remainder()))
    }

    // The lower bound assumes that all batches are full, and the upper bound one batch per item.
    fn size_hint(&self) -> (usize, Option<usize>) {
        let begun = usize::from(!self.items.is_empty());
        let (lower, upper) = self.stream.size_hint();
        let lower = (lower / self.max_size).saturating_add(begun);
        (lower, upper.and_then(|upper| upper.checked_add(begun)))
    }
}
