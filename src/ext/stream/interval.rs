//! [`IntervalStream`].

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use futures_core::stream::FusedStream;
use tokio::time::Instant;

use crate::interval::Interval;

/// A stream of the ticks of an [`Interval`]. It never ends.
///
/// # Cancel safety
///
/// Dropping a future that waits for the next tick loses no tick.
///
/// # Examples
///
/// ```
/// use futures::StreamExt;
/// use wheel::{interval, Duration, Instant, ext::stream::IntervalStream};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let start = Instant::now();
/// let ticks = IntervalStream::new(interval(Duration::from_millis(5)));
/// let ticks: Vec<Instant> = ticks.take(3).collect().await;
/// assert_eq!(ticks[2] - ticks[0], Duration::from_millis(10));
/// assert!(start.elapsed() >= Duration::from_millis(10));
/// # }
/// ```
#[derive(Debug)]
pub struct IntervalStream {
    interval: Interval,
}

impl IntervalStream {
    /// Creates a stream of the ticks of `interval`.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let second = wheel::Duration::from_secs(1);
    /// let ticks = wheel::ext::stream::IntervalStream::new(wheel::interval(second));
    /// assert_eq!(ticks.as_ref().period(), second);
    /// # }
    /// ```
    pub fn new(interval: Interval) -> Self {
        IntervalStream { interval }
    }

    /// Consumes the stream and returns the interval.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let interval = wheel::interval(wheel::Duration::from_secs(1));
    /// let mut ticks = wheel::ext::stream::IntervalStream::new(interval);
    /// assert_eq!(ticks.as_ref().period(), wheel::Duration::from_secs(1));
    /// ticks.as_mut().reset();
    /// let interval: wheel::Interval = ticks.into_inner();
    /// # }
    /// ```
    pub fn into_inner(self) -> Interval {
        self.interval
    }
}

impl Stream for IntervalStream {
    type Item = Instant;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Instant>> {
        self.interval.poll_tick(cx).map(Some)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::MAX, None)
    }
}

impl FusedStream for IntervalStream {
    fn is_terminated(&self) -> bool {
        false
    }
}

impl AsRef<Interval> for IntervalStream {
    fn as_ref(&self) -> &Interval {
        &self.interval
    }
}

impl AsMut<Interval> for IntervalStream {
    fn as_mut(&mut self) -> &mut Interval {
        &mut self.interval
    }
}
