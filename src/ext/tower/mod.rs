//! Timeouts for tower's services, and for the bodies of HTTP: layers for axum's and tower's stacks.
//!
//! | layer | limits | a late response or frame |
//! | --- | --- | --- |
//! | [`TimeoutLayer::new`] | the response, as tower's | is an error, a boxed [`Elapsed`](error::Elapsed) |
//! | [`TimeoutLayer::with_status_code`] | the response, as tower-http's | is answered with a status code and an empty body; the service's error type stays |
//! | [`RequestBodyTimeoutLayer`] | each frame of the request's body, as tower-http's | is an error of the body, [`Elapsed`](error::Elapsed) |
//! | [`ResponseBodyTimeoutLayer`] | each frame of the response's body, as tower-http's | is an error of the body, [`Elapsed`](error::Elapsed) |
//! | [`RequestBodyDeadlineLayer`] | the whole body of the request, as tower-http's | is an error of the body, [`Elapsed`](error::Elapsed) |
//! | [`ResponseBodyDeadlineLayer`] | the whole body of the response, as tower-http's | is an error of the body, [`Elapsed`](error::Elapsed) |
//!
//! A limit for the response ends with the response's head: bodies are read and written later,
//! and have limits of their own.
//!
//! Responses and bodies are polled before the timer: a response that is ready at once
//! registers no timer, and a response that is ready at or after the deadline is given out.
//! The same holds for frames; but once the deadline of a whole body has passed, no frame of the
//! body is given out.
//!
//! ```toml
//! [dependencies]
//! axum = { version = "0.8", default-features = false, features = ["http1", "tokio"] }
//! tokio-wheel = { path = "../tokio-wheel", features = ["tower"] } # a clone beside this package
//! ```
//!
//! # Differences from tower and tower-http
//!
//! * The error is this crate's, [`wheel::error::Elapsed`](crate::error::Elapsed). Its message
//!   is "deadline has elapsed", that of tower's "request timed out".
//! * A timeout beyond the end of time, such as `Duration::MAX`, is no limit.
//! * tower-http polls its timer first: each request registers a timer, also requests that are
//!   answered at once, and a response that comes with the deadline is lost.
//! * tower-http's `TimeoutLayer::new`, deprecated there, answers 408. Here `new`
//!   is tower's.
//!
//! # Retries, hedges, rate limits
//!
//! tower's retries take any future for the pause between two attempts, so no adapter is needed. The
//! policy makes a [`Sleep`](crate::Sleep) for the instant at which tower's back-off would end. The
//! back-off's own timer is never polled, and so registers nothing:
//!
//! ```
//! use tower::retry::backoff::{Backoff as _, ExponentialBackoff, ExponentialBackoffMaker, MakeBackoff as _};
//! use tower::retry::{Policy, RetryLayer};
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
//! tower makes all its other timers itself, and takes none: here an adapter is not enough, and
//! [the whole tree](crate::docs::whole_tree) moves them.
//!
//! | of tower | its timers | without the whole tree |
//! | --- | --- | --- |
//! | `hedge` | one for each request that may be sent twice | [a hedge of your own](crate::docs::patterns#a-back-off-and-a-hedge), which takes a few lines |
//! | `limit::rate` | one for each service, moved when the limit is reached | leave it: requests arm nothing |
//! | `load`, `retry::budget` | none, but the clock | |
//!
//! # Examples
//!
//! axum, with half a second for each request, more for a slow route, and ten seconds of
//! silence for a client that uploads:
//!
//! ```
//! use axum::Router;
//! use axum::http::StatusCode;
//! use axum::routing::{get, post};
//! use wheel::Duration;
//! use wheel::ext::tower::{RequestBodyTimeoutLayer, TimeoutLayer};
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
//! let ten_seconds = Duration::from_secs(10);
//! let app: Router = quick.merge(slow).layer(RequestBodyTimeoutLayer::new(ten_seconds));
//! ```

mod bodies;
mod body;
mod deadline_body;
pub mod future;
mod layer;

pub use self::bodies::{
    RequestBodyDeadline, RequestBodyDeadlineLayer, RequestBodyTimeout, RequestBodyTimeoutLayer,
    ResponseBodyDeadline, ResponseBodyDeadlineLayer, ResponseBodyTimeout, ResponseBodyTimeoutLayer,
};
pub use self::body::TimeoutBody;
pub use self::deadline_body::DeadlineBody;
#[doc(no_inline)]
pub use self::future::ResponseFuture;
pub use self::layer::TimeoutLayer;

use std::task::{Context, Poll};
use std::time::Duration;

use http::{Response, StatusCode};
use tower_service::Service;

/// The error of a service whose late requests end with an error.
///
/// ```
/// let error: wheel::ext::tower::BoxError = "anything".into();
/// assert_eq!(error.to_string(), "anything");
/// ```
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The error inside the [`BoxError`], under tower's name.
pub mod error {
    #[doc(no_inline)]
    pub use crate::error::Elapsed;
}

/// A late request ends with an error, as from [`Timeout::new`].
///
/// ```
/// use wheel::Duration;
/// use wheel::ext::tower::{AsError, TimeoutLayer};
///
/// let layer: TimeoutLayer<AsError> = TimeoutLayer::new(Duration::from_secs(1));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct AsError;

/// A service that gives another service a limited time for each request.
///
/// `L` is the end of a late request: [`AsError`] or a [`StatusCode`]. The time counts from
/// `call`, without the wait for the service to be ready.
///
/// # Errors
///
/// With [`AsError`] those of the service, boxed, and [`Elapsed`](error::Elapsed).
/// With a [`StatusCode`] those of the service, and none besides.
///
/// # Panics
///
/// `call` panics outside a Tokio runtime and in a runtime built without `enable_time`, with
/// tokio's message.
///
/// # Cancel safety
///
/// When the time is over, or the response future is dropped, the service's
/// future is dropped and the timer cancelled.
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
pub struct Timeout<S, L = AsError> {
    inner: S,
    timeout: Duration,
    late: L,
}

impl<S> Timeout<S> {
    /// Gives each of the service's requests so long, and ends late ones with
    /// [`Elapsed`](error::Elapsed).
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
    /// Gives each of the service's requests so long, and answers late ones with
    /// this status code and an empty body.
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

impl<S, L> Timeout<S, L> {
    const fn with(inner: S, timeout: Duration, late: L) -> Self {
        Timeout {
            inner,
            timeout,
            late,
        }
    }

    /// The service, by reference.
    ///
    /// ```
    /// # use wheel::{ext::tower::Timeout, Duration};
    /// assert_eq!(*Timeout::new(5, Duration::from_secs(1)).get_ref(), 5);
    /// ```
    pub const fn get_ref(&self) -> &S {
        &self.inner
    }

    /// The service, by mutable reference.
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

    /// The service itself.
    ///
    /// ```
    /// # use wheel::{ext::tower::Timeout, Duration};
    /// assert_eq!(Timeout::new(5, Duration::from_secs(1)).into_inner(), 5);
    /// ```
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S, Request> Service<Request> for Timeout<S, AsError>
where
    S: Service<Request>,
    S::Error: Into<BoxError>,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let response = self.inner.call(request);
        ResponseFuture::new(response, self.timeout, self.late)
    }
}

impl<S, Request, B> Service<Request> for Timeout<S, StatusCode>
where
    S: Service<Request, Response = Response<B>>,
    B: Default,
{
    type Response = Response<B>;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future, StatusCode>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let response = self.inner.call(request);
        ResponseFuture::new(response, self.timeout, self.late)
    }
}
