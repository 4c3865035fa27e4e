//! [`FutureExt`]: time-outs as methods of futures.

use std::future::Future;
use std::time::Duration;

use tokio::time::Instant;

use crate::timeout::{Timeout, timeout, timeout_at};

/// Methods of futures that have to do with time.
///
/// # Differences from tokio-util
///
/// Its trait also has methods for cancellation tokens, which have nothing to do with time. A module
/// that calls those keeps tokio-util's trait alone, and calls the function
/// [`timeout`](crate::timeout()): beside this trait a call of `timeout` is ambiguous (E0034), under
/// any name of the import.
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
    /// Gives the future `duration` to complete.
    ///
    /// The same as the function [`timeout`].
    ///
    /// # Panics
    ///
    /// As [`timeout`].
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

    /// Gives the future until `deadline` to complete.
    ///
    /// The same as the function [`timeout_at`].
    ///
    /// # Panics
    ///
    /// As [`timeout`].
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
