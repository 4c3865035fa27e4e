//! [`TimeoutLayer`], which wraps services in a [`Timeout`].

use std::time::Duration;

use http::StatusCode;
use tower_layer::Layer;

use super::{AsError, By, Timeout};

/// A layer that wraps services in a [`Timeout`].
///
/// `L` decides what happens to a late request: [`AsError`] makes it an error, and a [`StatusCode`]
/// answers it. `T` is the timeout: a [`Duration`], or [`By`] a function of the request.
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
pub struct TimeoutLayer<L = AsError, T = Duration> {
    timeout: T,
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

    /// Creates a layer that calls `timeout` for each request, and whose services end late requests with a
    /// boxed [`Elapsed`](crate::error::Elapsed).
    ///
    /// `None` means that the request has no timeout; it then uses no timer, and needs no runtime. Use this
    /// for a timeout that depends on the route, or that the caller sends in a header, as gRPC does. For a
    /// deadline, return the time that is left: if none is left, return [`Duration::ZERO`], and the request
    /// fails unless the service answers it immediately.
    ///
    /// # Panics
    ///
    /// If `timeout` panics, `call` does, before the inner service is called and before a timer is made.
    ///
    /// # Examples
    ///
    /// ```
    /// use http::Request;
    /// use wheel::{Duration, ext::tower::TimeoutLayer};
    ///
    /// let layer = TimeoutLayer::by(|request: &Request<String>| {
    ///     let millis = request.headers().get("x-timeout-ms")?.to_str().ok()?;
    ///     Some(Duration::from_millis(millis.parse().ok()?))
    /// });
    /// # let _: &dyn std::fmt::Debug = &layer;
    /// ```
    ///
    /// # Differences from tower
    ///
    /// tower's layer has one timeout for all requests. [tonic] and [tower] have been asked for more.
    ///
    /// [tonic]: https://github.com/hyperium/tonic/issues/2316
    /// [tower]: https://github.com/tower-rs/tower/issues/798
    pub const fn by<Request, F>(timeout: F) -> TimeoutLayer<AsError, By<F>>
    where
        F: Fn(&Request) -> Option<Duration>,
    {
        let timeout = By(timeout);
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

    /// Creates a layer that calls `timeout` for each request, and whose services answer late requests with
    /// `status` and an empty body.
    ///
    /// Apart from the answer, this behaves like [`by`](TimeoutLayer::by).
    ///
    /// ```
    /// use http::{Method, Request, StatusCode};
    /// use wheel::{ext::tower::TimeoutLayer, Duration};
    ///
    /// let limit = |request: &Request<String>| {
    ///     (request.method() == Method::GET).then_some(Duration::from_secs(1))
    /// };
    /// let layer = TimeoutLayer::with_status_code_by(StatusCode::GATEWAY_TIMEOUT, limit);
    /// ```
    pub const fn with_status_code_by<Request, F>(
        status: StatusCode,
        timeout: F,
    ) -> TimeoutLayer<StatusCode, By<F>>
    where
        F: Fn(&Request) -> Option<Duration>,
    {
        let timeout = By(timeout);
        let late = status;
        TimeoutLayer { timeout, late }
    }
}

impl<S, L: Clone, T: Clone> Layer<S> for TimeoutLayer<L, T> {
    type Service = Timeout<S, L, T>;

    fn layer(&self, inner: S) -> Self::Service {
        Timeout::with(inner, self.timeout.clone(), self.late.clone())
    }
}
