//! Timeouts, throttling and batching for streams, and streams of ticks.
//!
//! ```toml
//! [dependencies]
//! futures = "0.3"
//! tokio-wheel = { path = "../tokio-wheel", features = ["stream"] } # a clone beside this package
//! ```
//!
//! [`StreamExt`] has the time methods of tokio-stream's trait of that name. For all other methods,
//! such as `next`, import `futures::StreamExt as _` as well. Do not import tokio-stream's trait beside
//! this one: it has a method `timeout` too, so a call of `timeout` would be ambiguous (E0034).
//!
//! | method | returns | items of the returned stream |
//! | --- | --- | --- |
//! | [`timeout`](StreamExt::timeout) | [`Timeout`] | each item, and an error if it is late |
//! | [`timeout_repeating`](StreamExt::timeout_repeating) | [`TimeoutRepeating`] | each item, and an error for every period by which it is late |
//! | [`throttle`](StreamExt::throttle) | [`Throttle`] | each item, at least a given time after the previous one |
//! | [`chunks_timeout`](StreamExt::chunks_timeout) | [`ChunksTimeout`] | batches of items, limited in size and in age |
//!
//! [`IntervalStream`] turns an [`Interval`] into a stream. [`DelayQueue`](crate::DelayQueue) is a
//! stream itself.

mod chunks_timeout;
mod fuse;
mod interval;
mod throttle;
mod timeout;
mod timeout_repeating;

use std::time::Duration;

use futures_core::Stream;

use crate::interval::Interval;

pub use self::chunks_timeout::ChunksTimeout;
pub use self::interval::IntervalStream;
pub use self::throttle::Throttle;
pub use self::timeout::Timeout;
pub use self::timeout_repeating::TimeoutRepeating;

/// An extension trait with the time methods of streams.
///
/// Durations beyond 30 years, such as [`Duration::MAX`], are treated as 30 years.
///
/// # Panics
///
/// [`timeout`](Self::timeout) and [`throttle`](Self::throttle) panic outside a Tokio runtime and in a
/// runtime built without `enable_time`, with the caller's line. The stream of
/// [`chunks_timeout`](Self::chunks_timeout) panics under the same conditions, when the first item of a
/// batch arrives.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use futures::StreamExt as _;
/// use wheel::{Duration, ext::StreamExt};
///
/// let numbers = futures::stream::iter([1, 2]).timeout(Duration::from_secs(1));
/// assert_eq!(numbers.collect::<Vec<_>>().await, [Ok(1), Ok(2)]);
/// # }
/// ```
pub trait StreamExt: Stream {
    /// Requires each item to arrive within `duration` of the previous one, and the first within
    /// `duration` of this call.
    ///
    /// The returned stream yields items as `Ok`. If an item takes longer than `duration`, it yields
    /// a single `Err`, and then waits for that item without a limit. When the item arrives, the
    /// time starts again. An item that is ready is always yielded, even after its deadline.
    ///
    /// # Errors
    ///
    /// The returned stream yields [`Elapsed`](crate::error::Elapsed) once for each late item.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::StreamExt as _;
    /// use wheel::{Duration, ext::StreamExt};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let items = futures::stream::iter([1, 2]).chain(futures::stream::pending());
    /// let mut items = items.timeout(Duration::from_millis(10));
    /// assert_eq!(items.next().await, Some(Ok(1)));
    /// assert_eq!(items.next().await, Some(Ok(2)));
    /// assert!(items.next().await.unwrap().is_err());
    /// # }
    /// ```
    ///
    /// # Differences from tokio-stream
    ///
    /// No timer is armed while every poll finds an item.
    #[track_caller]
    fn timeout(self, duration: Duration) -> Timeout<Self>
    where
        Self: Sized,
    {
        Timeout::new(self, duration)
    }

    /// Yields an error at each tick of `interval` until an item arrives.
    ///
    /// The returned stream yields items as `Ok`, and each item resets the interval. Every tick
    /// before the next item yields an `Err`. The interval's
    /// [`MissedTickBehavior`](crate::MissedTickBehavior) decides about missed ticks. The first tick
    /// of [`interval`](crate::interval()) usually completes in Tokio's next millisecond, so the stream
    /// starts with an `Err` if its first item does not arrive before. Use
    /// [`interval_at`](crate::interval_at()) to avoid that.
    ///
    /// # Errors
    ///
    /// The returned stream yields [`Elapsed`](crate::error::Elapsed) for each tick.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::StreamExt as _;
    /// use wheel::{interval, Duration, ext::StreamExt};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let never = futures::stream::pending::<()>();
    /// let mut late = never.timeout_repeating(interval(Duration::from_millis(5)));
    /// for _ in 0..3 {
    ///     assert!(late.next().await.unwrap().is_err());
    /// }
    /// # }
    /// ```
    fn timeout_repeating(self, interval: Interval) -> TimeoutRepeating<Self>
    where
        Self: Sized,
    {
        TimeoutRepeating::new(self, interval)
    }

    /// Yields items at least `duration` apart.
    ///
    /// After each item, the inner stream is not polled until `duration` has elapsed. With a duration of
    /// zero, items are not delayed.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::StreamExt as _;
    /// use wheel::{Duration, Instant, ext::StreamExt};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let start = Instant::now();
    /// let items = futures::stream::repeat('x').throttle(Duration::from_millis(10));
    /// assert_eq!(items.take(3).collect::<String>().await, "xxx");
    /// assert!(start.elapsed() >= Duration::from_millis(20));
    /// # }
    /// ```
    #[track_caller]
    fn throttle(self, duration: Duration) -> Throttle<Self>
    where
        Self: Sized,
    {
        Throttle::new(self, duration)
    }

    /// Collects items into batches of at most `max_size`.
    ///
    /// A batch is yielded when it is full, when `duration` has elapsed since its first item and no
    /// further item is ready, and when the inner stream ends. No batch is empty.
    ///
    /// # Panics
    ///
    /// Panics if `max_size` is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::StreamExt as _;
    /// use wheel::{Duration, ext::StreamExt};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let items = futures::stream::iter(1..=5).chain(futures::stream::pending());
    /// let mut batches = items.chunks_timeout(3, Duration::from_millis(10));
    /// assert_eq!(batches.next().await, Some(vec![1, 2, 3]));
    /// assert_eq!(batches.next().await, Some(vec![4, 5]));
    /// # }
    /// ```
    #[track_caller]
    fn chunks_timeout(self, max_size: usize, duration: Duration) -> ChunksTimeout<Self>
    where
        Self: Sized,
    {
        assert!(max_size > 0, "`max_size` must be non-zero.");
        ChunksTimeout::new(self, max_size, duration)
    }
}

impl<S: Stream + ?Sized> StreamExt for S {}
