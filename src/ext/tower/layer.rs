//! [`TimeoutLayer`], which wraps services in a [`Timeout`].

use std::time::Duration;

use http::StatusCode;
use tower_layer::Layer;

use super::{AsError, Timeout};

/// A layer that wraps services in a [`Timeout`].
///
/// `L` decides what happens to a late request: [`AsError`] makes it an error, and a [`StatusCode`]
/// answers it.
///
/// # Examples
///
/// ```
/// use tower::{service_fn, BoxError, ServiceBuilder, ServiceExt};
/// use wheel::Duration;
/// use wheel::ext::tower::TimeoutLayer;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), BoxError> {
/// let service = ServiceBuilder::new()
///     .layer(TimeoutLayer::new(Duration::from_secs(1)))
///     .service(service_fn(async |n: u32| Ok::<_, BoxError>(n + 1)));
/// assert_eq!(service.oneshot(1).await?, 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TimeoutLayer<L = AsError> {
    timeout: Duration,
    late: L,
}

impl TimeoutLayer {
    /// Creates a layer whose services end late requests with a boxed [`Elapsed`](crate::error::Elapsed).
    ///
    /// ```
    /// let layer = wheel::ext::tower::TimeoutLayer::new(wheel::Duration::from_secs(1));
    /// ```
    pub const fn new(timeout: Duration) -> Self {
        let late = AsError;
        TimeoutLayer { timeout, late }
    }
}

impl TimeoutLayer<StatusCode> {
    /// Creates a layer whose services answer late requests with `status` and an empty body.
    ///
    /// ```
    /// use http::StatusCode;
    /// use wheel::{ext::tower::TimeoutLayer, Duration};
    ///
    /// let limit = Duration::from_secs(1);
    /// let layer = TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, limit);
    /// ```
    pub const fn with_status_code(status: StatusCode, timeout: Duration) -> Self {
        let late = status;
        TimeoutLayer { timeout, late }
    }
}

impl<S, L: Clone> Layer<S> for TimeoutLayer<L> {
    type Service = Timeout<S, L>;

    fn layer(&self, inner: S) -> Self::Service {
        Timeout::with(inner, self.timeout, self.late.clone())
    }
}
