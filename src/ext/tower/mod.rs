//! A timeout for each response of a tower service, as a layer for tower and axum.
//!
//! | layer | timeout | result if late | as in |
//! | --- | --- | --- | --- |
//! | [`TimeoutLayer::new`] | the same for all requests | a boxed [`Elapsed`](error::Elapsed) as the service's error | tower |
//! | [`TimeoutLayer::with_status_code`] | the same for all requests | a response with a status code and an empty body | tower-http |
//! | [`TimeoutLayer::by`], [`TimeoutLayer::with_status_code_by`] | computed from each request | the same | |
//!
//! The timeout ends when the response's head is ready. Bodies are read and written after that: tower-http
//! has timeouts for them, and [`ext::io`](crate::ext::io) has timeouts for the connection that carries them.
//!
//! The response is polled before the timer. A response that is ready on the first poll therefore arms
//! no timer, and one that is ready at or after the deadline is still returned.
//!
//! ```toml
//! [dependencies]
//! axum = { version = "0.8", default-features = false, features = ["http1", "tokio"] }
//! tokio-wheel = { path = "../tokio-wheel", features = ["tower"] } # a clone beside this package
//! ```
//!
//! # Differences from tower and tower-http
//!
//! * The error is this crate's [`wheel::error::Elapsed`](crate::error::Elapsed). Its message is
//!   "deadline has elapsed"; the message of tower's error is "request timed out".
//! * A timeout that is too long to be represented as a deadline, such as `Duration::MAX`, never
//!   elapses.
//! * tower-http polls its timer before the response. So each request arms a timer there, even
//!   if it is answered immediately, and a response that is ready at the deadline is lost.
//! * tower-http's `TimeoutLayer::new`, which is deprecated, answers with the status 408. This crate's
//!   `new` behaves like tower's.
//!
//! # Retries, hedges, rate limits
//!
//! tower's retries accept any future for the pause between two attempts, so they need no adapter. The
//! policy makes a [`Sleep`](crate::Sleep) for the instant at which tower's back-off would end. The
//! back-off's own timer is never polled, so it arms nothing:
//!
//! ```
//! use tower::retry::backoff::{Backoff as _, ExponentialBackoff, ExponentialBackoffMaker};
//! use tower::retry::{Policy, RetryLayer, backoff::MakeBackoff as _};
//! use tower::{BoxError, ServiceBuilder, ServiceExt as _, service_fn};
//! use wheel::{Sleep, sleep_until};
//!
//! #[derive(Clone)]
//! struct Retries {
//!     left: u32,
//!     backoff: ExponentialBackoff,
//! }
//!
//! impl<Q: Clone, T, E> Policy<Q, T, E> for Retries {
//!     type Future = Sleep; // was: tokio::time::Sleep
//!
//!     fn retry(&mut self, _: &mut Q, answer: &mut Result<T, E>) -> Option<Sleep> {
//!         if answer.is_ok() {
//!             return None;
//!         }
//!         self.left = self.left.checked_sub(1)?;
//!         Some(sleep_until(self.backoff.next_backoff().deadline())) // was: next_backoff()
//!     }
//!
//!     fn clone_request(&mut self, request: &Q) -> Option<Q> {
//!         Some(request.clone())
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), BoxError> {
//! let backoff = ExponentialBackoffMaker::default().make_backoff();
//! let client = ServiceBuilder::new()
//!     .layer(RetryLayer::new(Retries { left: 3, backoff }))
//!     .service(service_fn(async |n: u32| Ok::<_, BoxError>(n + 1)));
//! assert_eq!(client.oneshot(1).await?, 2);
//! # Ok(())
//! # }
//! ```
//!
//! tower makes all its other timers itself, so an adapter cannot replace them. To move them too, [patch
//! the whole dependency tree](crate::docs::whole_tree).
//!
//! | tower's module | its timers | without the patch |
//! | --- | --- | --- |
//! | `hedge` | one for each request that may be sent twice | write [your own hedge](crate::docs::patterns#retries-hedges-deadlines-streams), in a few lines |
//! | `limit::rate` | one for each service, reset when the limit is reached | leave it, because requests arm no timer |
//! | `load`, `retry::budget` | none; they only read the clock | leave them |
//!
//! # Examples
//!
//! An axum router in which requests have half a second, and those of a slow route have longer:
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # use tower::ServiceExt as _;
//! use axum::Router;
//! use axum::http::StatusCode;
//! use axum::routing::{get, post};
//! use wheel::Duration;
//! use wheel::ext::tower::TimeoutLayer;
//!
//! let half_a_second = Duration::from_millis(500);
//! let quick = Router::new()
//!     .route("/", get(async || "hello"))
//!     .layer(TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, half_a_second));
//!
//! let half_a_minute = Duration::from_secs(30);
//! let slow = Router::new()
//!     .route("/reports", post(async || "done"))
//!     .layer(TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, half_a_minute));
//!
//! let app: Router = quick.merge(slow);
//! # let request = axum::http::Request::post("/reports").body(axum::body::Body::from("hello"))?;
//! # let answer = app.oneshot(request).await?.into_body();
//! # assert_eq!(axum::body::to_bytes(answer, 99).await?, "done");
//! # Ok(())
//! # }
//! ```

pub mod future;
mod layer;
mod limit;

#[doc(no_inline)]
pub use self::future::ResponseFuture;
pub use self::layer::TimeoutLayer;
pub use self::limit::By;

use std::task::{Context, Poll};
use std::time::Duration;

use http::{Response, StatusCode};
use tower_service::Service;

use self::limit::Limit;

/// The error type of services with a timeout.
///
/// ```
/// let error: wheel::ext::tower::BoxError = "anything".into();
/// assert_eq!(error.to_string(), "anything");
/// ```
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The error of a late request, under the path that tower gives its own.
pub mod error {
    #[doc(no_inline)]
    pub use crate::error::Elapsed;
}

/// Marks a [`Timeout`] or a [`TimeoutLayer`] that ends late requests with an error.
///
/// ```
/// use wheel::Duration;
/// use wheel::ext::tower::{AsError, TimeoutLayer};
///
/// let layer: TimeoutLayer<AsError> = TimeoutLayer::new(Duration::from_secs(1));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct AsError;

/// A service that requires another service to answer each request in time.
///
/// `L` decides what happens to a late request: [`AsError`] makes it an error, and a [`StatusCode`]
/// answers it. `T` is the timeout: a [`Duration`], or [`By`] a function of the request. The time counts
/// from `call`, so waiting for the service to be ready does not count.
///
/// # Errors
///
/// With [`AsError`], returns the inner service's errors, boxed, and [`Elapsed`](error::Elapsed) if a
/// request is late. With a [`StatusCode`], returns only the inner service's errors.
///
/// # Panics
///
/// `call` panics outside a Tokio runtime and in a runtime built without `enable_time`. The panic has
/// Tokio's message.
///
/// # Cancel safety
///
/// Dropping the response's future drops the inner service's future and cancels the timer. A late
/// request's inner future, too, is dropped then, not at the deadline.
///
/// # Examples
///
/// ```
/// use tower::{service_fn, BoxError, ServiceExt};
/// use wheel::Duration;
/// use wheel::error::Elapsed;
/// use wheel::ext::tower::Timeout;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let silent = service_fn(async |_request: &str| -> Result<(), BoxError> {
///     std::future::pending().await
/// });
/// let service = Timeout::new(silent, Duration::from_millis(5));
/// let error = service.oneshot("hello?").await.unwrap_err();
/// assert!(error.is::<Elapsed>());
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Timeout<S, L = AsError, T = Duration> {
    inner: S,
    timeout: T,
    late: L,
}

impl<S> Timeout<S> {
    /// Requires `inner` to answer each request within `timeout`, or else returns an
    /// [`Elapsed`](error::Elapsed) error.
    ///
    /// ```
    /// use wheel::{ext::tower::Timeout, Duration};
    ///
    /// let client = "any service";
    /// let client = Timeout::new(client, Duration::from_secs(1));
    /// assert_eq!(*client.get_ref(), "any service");
    /// ```
    pub const fn new(inner: S, timeout: Duration) -> Self {
        Timeout::with(inner, timeout, AsError)
    }
}

impl<S> Timeout<S, StatusCode> {
    /// Requires `inner` to answer each request within `timeout`, or else answers it with `status`
    /// and an empty body.
    ///
    /// ```
    /// use http::{Request, Response, StatusCode};
    /// use tower::{service_fn, BoxError, ServiceExt};
    /// use wheel::{ext::tower::Timeout, Duration};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), BoxError> {
    /// let silent = service_fn(async |_: Request<()>| -> Result<Response<String>, BoxError> {
    ///     std::future::pending().await
    /// });
    /// let limit = Duration::from_millis(5);
    /// let service = Timeout::with_status_code(silent, StatusCode::GATEWAY_TIMEOUT, limit);
    /// let response = service.oneshot(Request::new(())).await?;
    /// assert_eq!(response.status(), 504);
    /// # Ok(())
    /// # }
    /// ```
    pub const fn with_status_code(inner: S, status: StatusCode, timeout: Duration) -> Self {
        Timeout::with(inner, timeout, status)
    }
}

impl<S, L, T> Timeout<S, L, T> {
    const fn with(inner: S, timeout: T, late: L) -> Self {
        Timeout {
            inner,
            timeout,
            late,
        }
    }

    /// Returns a reference to the inner service.
    ///
    /// ```
    /// # use wheel::{ext::tower::Timeout, Duration};
    /// assert_eq!(*Timeout::new(5, Duration::from_secs(1)).get_ref(), 5);
    /// ```
    pub const fn get_ref(&self) -> &S {
        &self.inner
    }

    /// Returns a mutable reference to the inner service.
    ///
    /// ```
    /// # use wheel::{ext::tower::Timeout, Duration};
    /// let mut service = Timeout::new(5, Duration::from_secs(1));
    /// *service.get_mut() = 6;
    /// assert_eq!(*service.get_ref(), 6);
    /// ```
    pub const fn get_mut(&mut self) -> &mut S {
        &mut self.inner
    }

    /// Consumes the `Timeout` and returns the inner service.
    ///
    /// ```
    /// # use wheel::{ext::tower::Timeout, Duration};
    /// assert_eq!(Timeout::new(5, Duration::from_secs(1)).into_inner(), 5);
    /// ```
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S, T, Request> Service<Request> for Timeout<S, AsError, T>
where
    S: Service<Request>,
    S::Error: Into<BoxError>,
    T: Limit<Request>,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let timeout = self.timeout.of(&request);
        ResponseFuture::new(self.inner.call(request), timeout, self.late)
    }
}

impl<S, T, Request, B> Service<Request> for Timeout<S, StatusCode, T>
where
    S: Service<Request, Response = Response<B>>,
    B: Default,
    T: Limit<Request>,
{
    type Response = Response<B>;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future, StatusCode>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let timeout = self.timeout.of(&request);
        ResponseFuture::new(self.inner.call(request), timeout, self.late)
    }
}
