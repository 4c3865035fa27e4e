//! [`FutureExt`]: timeouts as methods of futures.

use std::future::Future;
use std::time::Duration;

use tokio::time::Instant;

use crate::timeout::{Timeout, timeout, timeout_at, timeout_if_pending};

/// An extension trait with the timeout methods of futures.
///
/// [`timeout`](Self::timeout) and [`timeout_at`](Self::timeout_at) have tokio-util's names, and
/// [`timeout_if_pending`](Self::timeout_if_pending) is this crate's own.
///
/// # Differences from tokio-util
///
/// tokio-util's trait has further methods, which take cancellation tokens. If a module calls those,
/// import only tokio-util's trait there, and call the function [`timeout`](crate::timeout()) for
/// timeouts. If both traits are in scope, even as `_`, a call of the method `timeout` is ambiguous
/// (E0034).
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use wheel::{Duration, ext::FutureExt};
///
/// assert_eq!(async { 42 }.timeout(Duration::from_secs(1)).await, Ok(42));
/// # }
/// ```
pub trait FutureExt: Future {
    /// Requires the future to complete within `duration`.
    ///
    /// This is the same as the function [`timeout`].
    ///
    /// # Errors
    ///
    /// The returned future returns [`Elapsed`](crate::error::Elapsed) if `duration` elapses first.
    ///
    /// # Panics
    ///
    /// Panics under the same conditions as [`timeout`].
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel::{Duration, ext::FutureExt};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let never = std::future::pending::<()>();
    /// assert!(never.timeout(Duration::from_millis(5)).await.is_err());
    /// # }
    /// ```
    #[inline]
    #[track_caller]
    fn timeout(self, duration: Duration) -> Timeout<Self>
    where
        Self: Sized,
    {
        timeout(duration, self)
    }

    /// Requires the future to complete before `deadline`.
    ///
    /// This is the same as the function [`timeout_at`].
    ///
    /// # Errors
    ///
    /// The returned future returns [`Elapsed`](crate::error::Elapsed) if the deadline passes first.
    ///
    /// # Panics
    ///
    /// Panics under the same conditions as [`timeout_at`].
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel::{Duration, ext::FutureExt, Instant};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let deadline = Instant::now() + Duration::from_secs(1);
    /// assert_eq!(async { 42 }.timeout_at(deadline).await, Ok(42));
    /// # }
    /// ```
    #[inline]
    #[track_caller]
    fn timeout_at(self, deadline: Instant) -> Timeout<Self>
    where
        Self: Sized,
    {
        timeout_at(deadline, self)
    }

    /// Requires the future to complete within `duration` of the first poll in which it is pending.
    ///
    /// If the future is ready on the first poll, no clock is read and no timer is made, so the
    /// timeout costs next to nothing. Use this for futures that are mostly ready, such as the next
    /// row of a result that has already been received. If the future is pending, that poll reads
    /// the clock and arms a timer of the runtime in which it happens. From then on this behaves
    /// like [`timeout`].
    ///
    /// The time before that poll does not count, so a `duration` of zero elapses only if the future
    /// has been pending.
    ///
    /// # Errors
    ///
    /// The returned future returns [`Elapsed`](crate::error::Elapsed) if `duration` elapses first.
    ///
    /// # Panics
    ///
    /// Outside a Tokio runtime, this panics at the caller's line, and a poll that arms the timer
    /// panics, too. In a runtime built without `enable_time`, one of the two panics.
    ///
    /// # Cancel safety
    ///
    /// Dropping the returned future drops the inner future and cancels the timer. If you then wait
    /// for the same work again, the time starts again.
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel::{Duration, ext::FutureExt};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let limit = Duration::from_millis(5);
    /// assert_eq!(async { 42 }.timeout_if_pending(limit).await, Ok(42));
    /// let never = std::future::pending::<()>();
    /// assert!(never.timeout_if_pending(limit).await.is_err());
    /// # }
    /// ```
    ///
    /// # Differences from Tokio
    ///
    /// Tokio's timeouts all count from the call, so each of them reads the clock. The idea is that
    /// of [mssql-rs](https://github.com/microsoft/mssql-rs/pull/275), which arms a row's timeout
    /// only if the row is not there yet.
    #[inline]
    #[track_caller]
    fn timeout_if_pending(self, duration: Duration) -> Timeout<Self>
    where
        Self: Sized,
    {
        timeout_if_pending(duration, self)
    }
}

impl<F: Future + ?Sized> FutureExt for F {}
