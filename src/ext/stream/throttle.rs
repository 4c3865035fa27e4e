//! [`StreamExt::throttle`](super::StreamExt::throttle).

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use pin_project_lite::pin_project;

use crate::sleep::{Sleep, deadline_after, sleep};

pin_project! {
    /// Stream returned by [`StreamExt::throttle`](super::StreamExt::throttle).
    ///
    /// # Cancel safety
    ///
    /// Dropping a future that waits for the next item loses no item.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// use futures::StreamExt as _;
    /// use wheel::{Duration, ext::StreamExt as _};
    ///
    /// let slower = futures::stream::iter([1, 2]).throttle(Duration::from_millis(5));
    /// let mut slower: std::pin::Pin<Box<wheel::ext::stream::Throttle<_>>> = Box::pin(slower);
    /// assert_eq!(slower.next().await, Some(1));
    /// # }
    /// ```
    #[must_use = "streams do nothing unless polled"]
    #[derive(Debug)]
    pub struct Throttle<S> {
        #[pin]
        stream: S,
        delay: Sleep,
        duration: Duration,
        // `true` once `duration` has elapsed since the last item.
        rested: bool,
    }
}

impl<S> Throttle<S> {
    #[track_caller]
    pub(super) fn new(stream: S, duration: Duration) -> Self {
        Throttle {
            stream,
            delay: sleep(duration),
            duration,
            rested: true,
        }
    }

    /// Returns a reference to the inner stream.
    ///
    /// ```
    /// use wheel::{Duration, ext::StreamExt};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let slow = futures::stream::iter([1, 2]).throttle(Duration::from_secs(1));
    /// assert_eq!(futures::Stream::size_hint(slow.get_ref()), (2, Some(2)));
    /// # }
    /// ```
    pub fn get_ref(&self) -> &S {
        &self.stream
    }

    /// Returns a mutable reference to the inner stream.
    ///
    /// Items that are taken through this reference are not delayed.
    ///
    /// ```
    /// use futures::StreamExt as _;
    /// use wheel::{Duration, ext::StreamExt};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut slow = futures::stream::iter([1, 2]).throttle(Duration::from_secs(3600));
    /// assert_eq!(slow.next().await, Some(1));
    /// assert_eq!(slow.get_mut().next().await, Some(2));
    /// # }
    /// ```
    pub fn get_mut(&mut self) -> &mut S {
        &mut self.stream
    }

    /// Consumes the `Throttle` and returns the inner stream, cancelling the timer.
    ///
    /// ```
    /// use futures::StreamExt as _;
    /// use wheel::{Duration, ext::StreamExt};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let slow = futures::stream::iter([1, 2]).throttle(Duration::from_secs(3600));
    /// assert_eq!(slow.into_inner().collect::<Vec<_>>().await, [1, 2]);
    /// # }
    /// ```
    pub fn into_inner(self) -> S {
        self.stream
    }
}

impl<S: Stream> Stream for Throttle<S> {
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let me = self.project();
        if !*me.rested {
            ready!(Pin::new(&mut *me.delay).poll(cx));
            *me.rested = true;
        }
        let item = ready!(me.stream.poll_next(cx));
        if item.is_some() && !me.duration.is_zero() {
            me.delay.reset_lazily(deadline_after(*me.duration));
            *me.rested = false;
        }
        Poll::Ready(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.stream.size_hint()
    }
}
