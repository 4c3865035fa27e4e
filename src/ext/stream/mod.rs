//! Streams of ticks, and time limits for streams.
//!
//! ```toml
//! [dependencies]
//! futures = "0.3"
//! tokio-wheel = { path = "../tokio-wheel", features = ["stream"] } # a clone beside this package
//! ```
//!
//! [`StreamExt`] has the time methods of tokio-stream's trait of that name. For all other methods,
//! such as `next`, import `futures::StreamExt as _` as well. tokio-stream's trait will not do,
//! because its own `timeout` makes a call of `timeout` ambiguous (E0034).
//!
//! | method | makes | |
//! | --- | --- | --- |
//! | [`timeout`](StreamExt::timeout) | [`Timeout`] | an error if an item is late |
//! | [`timeout_repeating`](StreamExt::timeout_repeating) | [`TimeoutRepeating`] | an error for every period an item is late |
//! | [`throttle`](StreamExt::throttle) | [`Throttle`] | items at least so far apart |
//! | [`chunks_timeout`](StreamExt::chunks_timeout) | [`ChunksTimeout`] | batches, full or old enough |
//!
//! [`IntervalStream`] makes a stream of an [`Interval`], and [`DelayQueue`](crate::DelayQueue) is a
//! stream.

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

/// Methods of streams that have to do with time.
///
/// All that take a duration may be given [`Duration::MAX`], which is 30 years here as elsewhere.
///
/// # Panics
///
/// All but [`timeout_repeating`](Self::timeout_repeating), which is given a timer, panic outside a
/// Tokio runtime and in a runtime built without `enable_time`, at the caller's line or when they
/// first need a timer.
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
    /// Gives each item `duration` to come.
    ///
    /// Items come as `Ok`. If an item takes longer, there is a single `Err`; the stream then goes
    /// on, and the next item starts the time again. An item that is there is taken, however late.
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
    /// No timer is registered while items are there when asked for.
    #[track_caller]
    fn timeout(self, duration: Duration) -> Timeout<Self>
    where
        Self: Sized,
    {
        Timeout::new(self, duration)
    }

    /// Counts how long each item takes in ticks of an interval.
    ///
    /// Items come as `Ok`, and reset the interval. Each tick before the next item is an `Err`; the
    /// interval decides on missed ticks.
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

    /// Keeps items at least `duration` apart.
    ///
    /// The stream is not polled before the time has come. Zero slows nothing down.
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

    /// Collects items to batches of `max_size`, or of the items that come within `duration`.
    ///
    /// A batch goes out when full, when `duration` has elapsed since its first item and no item is
    /// ready, and at the end of the stream. No batch is empty.
    ///
    /// # Panics
    ///
    /// If `max_size` is zero.
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
