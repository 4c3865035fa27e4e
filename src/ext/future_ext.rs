//! [`FutureExt`]: timeouts as methods of futures.

use std::future::Future;
use std::time::Duration;

use tokio::time::Instant;

use crate::timeout::{Timeout, timeout, timeout_at};

/// An extension trait with the timeout methods of futures.
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
}

impl<F: Future + ?Sized> FutureExt for F {}
