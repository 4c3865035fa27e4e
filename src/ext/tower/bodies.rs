//! Layers and services that wrap the bodies of requests or responses in a [`TimeoutBody`] or a
//! [`DeadlineBody`].

use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response};
use tower_layer::Layer;
use tower_service::Service;

use super::future::{ResponseBodyDeadlineFuture, ResponseBodyTimeoutFuture};
use super::{DeadlineBody, TimeoutBody};

/// Defines the layer `$layer`, which wraps services in `$service`. `$new` documents both of their
/// functions `new`.
macro_rules! limit {
    (
        $new:literal
        $(#[$about_layer:meta])* $layer:ident,
        $(#[$about_service:meta])* $service:ident
    ) => {
        $(#[$about_layer])*
        #[derive(Clone, Copy, Debug)]
        pub struct $layer {
            timeout: Duration,
        }

        impl $layer {
            #[doc = $new]
            pub const fn new(timeout: Duration) -> Self {
                $layer { timeout }
            }
        }

        impl<S> Layer<S> for $layer {
            type Service = $service<S>;

            fn layer(&self, inner: S) -> Self::Service {
                $service::new(inner, self.timeout)
            }
        }

        $(#[$about_service])*
        #[derive(Clone, Debug)]
        pub struct $service<S> {
            inner: S,
            timeout: Duration,
        }

        impl<S> $service<S> {
            #[doc = $new]
            pub const fn new(inner: S, timeout: Duration) -> Self {
                $service { inner, timeout }
            }

            /// Returns a layer that wraps services like this one.
            pub const fn layer(timeout: Duration) -> $layer {
                $layer::new(timeout)
            }

            /// Returns a reference to the inner service.
            pub const fn get_ref(&self) -> &S {
                &self.inner
            }

            /// Returns a mutable reference to the inner service.
            pub const fn get_mut(&mut self) -> &mut S {
                &mut self.inner
            }

            /// Consumes the wrapper and returns the inner service.
            pub fn into_inner(self) -> S {
                self.inner
            }
        }
    };
}

limit! {
    "Requires each frame of a request's body to arrive within `timeout`."
    /// A layer that requires each frame of a request's body to arrive in time.
    ///
    /// Use it to fail an upload whose client has fallen silent. [`TimeoutBody`] describes how the time
    /// counts.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use tower::ServiceExt as _;
    /// use axum::Router;
    /// use axum::routing::post;
    /// use wheel::{Duration, ext::tower::RequestBodyTimeoutLayer};
    ///
    /// // Reading the body fails once the client has been silent for ten seconds.
    /// let app: Router = Router::new()
    ///     .route("/upload", post(async |body: String| body.len().to_string()))
    ///     .layer(RequestBodyTimeoutLayer::new(Duration::from_secs(10)));
    /// # let request = axum::http::Request::post("/upload").body(axum::body::Body::from("hello"))?;
    /// # let answer = app.oneshot(request).await?.into_body();
    /// # assert_eq!(axum::body::to_bytes(answer, 99).await?, "5");
    /// # Ok(())
    /// # }
    /// ```
    RequestBodyTimeoutLayer,
    /// A service that wraps the bodies of its requests in a [`TimeoutBody`], made by
    /// [`RequestBodyTimeoutLayer`].
    ///
    /// # Errors
    ///
    /// Returns the inner service's errors. A late frame is an error of the request's body.
    ///
    /// # Examples
    ///
    /// ```
    /// use http::Request;
    /// use tower::{BoxError, ServiceExt as _, service_fn};
    /// use wheel::Duration;
    /// use wheel::ext::tower::{RequestBodyTimeout, TimeoutBody};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), BoxError> {
    /// let inner = service_fn(async |_: Request<TimeoutBody<String>>| Ok::<_, BoxError>("done"));
    /// let service = RequestBodyTimeout::new(inner, Duration::from_secs(10));
    /// assert_eq!(service.oneshot(Request::new("hello".to_owned())).await?, "done");
    /// # Ok(())
    /// # }
    /// ```
    RequestBodyTimeout
}

limit! {
    "Requires each frame of a response's body to arrive within `timeout`."
    /// A layer that requires each frame of a response's body to arrive in time.
    ///
    /// Use it to end a response whose streaming handler, or whose backend, has fallen silent.
    /// [`TimeoutBody`] describes how the time counts.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use tower::ServiceExt as _;
    /// use axum::Router;
    /// use axum::routing::get;
    /// use wheel::{Duration, ext::tower::ResponseBodyTimeoutLayer};
    ///
    /// let app: Router = Router::new()
    ///     .route("/events", get(async || "hello"))
    ///     .layer(ResponseBodyTimeoutLayer::new(Duration::from_secs(10)));
    /// # let request = axum::http::Request::get("/events").body(axum::body::Body::from(""))?;
    /// # let answer = app.oneshot(request).await?.into_body();
    /// # assert_eq!(axum::body::to_bytes(answer, 99).await?, "hello");
    /// # Ok(())
    /// # }
    /// ```
    ResponseBodyTimeoutLayer,
    /// A service that wraps the bodies of its responses in a [`TimeoutBody`], made by
    /// [`ResponseBodyTimeoutLayer`].
    ///
    /// # Errors
    ///
    /// Returns the inner service's errors. A late frame is an error of the response's body.
    ///
    /// # Examples
    ///
    /// ```
    /// use http::{Request, Response};
    /// use http_body_util::BodyExt as _;
    /// use tower::{BoxError, ServiceExt as _, service_fn};
    /// use wheel::Duration;
    /// use wheel::ext::tower::ResponseBodyTimeout;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), BoxError> {
    /// let inner = service_fn(async |_: Request<()>| {
    ///     Ok::<_, BoxError>(Response::new("hello".to_owned()))
    /// });
    /// let service = ResponseBodyTimeout::new(inner, Duration::from_secs(10));
    /// let body = service.oneshot(Request::new(())).await?.into_body();
    /// assert_eq!(body.collect().await?.to_bytes(), "hello");
    /// # Ok(())
    /// # }
    /// ```
    ResponseBodyTimeout
}

limit! {
    "Requires the whole body of a request to arrive within `timeout` of the call."
    /// A layer that requires the whole body of a request to arrive in time.
    ///
    /// Use it to fail an upload whose client sends too slowly. [`DeadlineBody`] describes how the time
    /// counts.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use tower::ServiceExt as _;
    /// use axum::Router;
    /// use axum::routing::post;
    /// use wheel::{Duration, ext::tower::RequestBodyDeadlineLayer};
    ///
    /// // Reading the body fails if the client has not sent all of it within a minute.
    /// let app: Router = Router::new()
    ///     .route("/upload", post(async |body: String| body.len().to_string()))
    ///     .layer(RequestBodyDeadlineLayer::new(Duration::from_secs(60)));
    /// # let request = axum::http::Request::post("/upload").body(axum::body::Body::from("hello"))?;
    /// # let answer = app.oneshot(request).await?.into_body();
    /// # assert_eq!(axum::body::to_bytes(answer, 99).await?, "5");
    /// # Ok(())
    /// # }
    /// ```
    RequestBodyDeadlineLayer,
    /// A service that wraps the bodies of its requests in a [`DeadlineBody`], made by
    /// [`RequestBodyDeadlineLayer`].
    ///
    /// # Errors
    ///
    /// Returns the inner service's errors. A late body ends with an error of the request's body.
    ///
    /// # Panics
    ///
    /// `call` panics under the same conditions as [`DeadlineBody::new`].
    ///
    /// # Examples
    ///
    /// ```
    /// use http::Request;
    /// use tower::{BoxError, ServiceExt as _, service_fn};
    /// use wheel::Duration;
    /// use wheel::ext::tower::{DeadlineBody, RequestBodyDeadline};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), BoxError> {
    /// let inner = service_fn(async |_: Request<DeadlineBody<String>>| Ok::<_, BoxError>("done"));
    /// let service = RequestBodyDeadline::new(inner, Duration::from_secs(60));
    /// assert_eq!(service.oneshot(Request::new("hello".to_owned())).await?, "done");
    /// # Ok(())
    /// # }
    /// ```
    RequestBodyDeadline
}

limit! {
    "Requires the whole body of a response to be sent within `timeout` of the response's head."
    /// A layer that requires the whole body of a response to be sent in time.
    ///
    /// Use it to end a response whose client reads too slowly, or whose handler streams forever.
    /// The error is returned at the body's next poll, so a client that stops reading altogether also
    /// needs a [write timeout](crate::ext::io) on the connection. [`DeadlineBody`] describes how the
    /// time counts.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use tower::ServiceExt as _;
    /// use axum::Router;
    /// use axum::routing::get;
    /// use wheel::{Duration, ext::tower::ResponseBodyDeadlineLayer};
    ///
    /// let app: Router = Router::new()
    ///     .route("/report", get(async || "hello"))
    ///     .layer(ResponseBodyDeadlineLayer::new(Duration::from_secs(60)));
    /// # let request = axum::http::Request::get("/report").body(axum::body::Body::from(""))?;
    /// # let answer = app.oneshot(request).await?.into_body();
    /// # assert_eq!(axum::body::to_bytes(answer, 99).await?, "hello");
    /// # Ok(())
    /// # }
    /// ```
    ResponseBodyDeadlineLayer,
    /// A service that wraps the bodies of its responses in a [`DeadlineBody`], made by
    /// [`ResponseBodyDeadlineLayer`].
    ///
    /// # Errors
    ///
    /// Returns the inner service's errors. A late body ends with an error of the response's body.
    ///
    /// # Panics
    ///
    /// Polling the response's future panics under the same conditions as [`DeadlineBody::new`].
    ///
    /// # Examples
    ///
    /// ```
    /// use http::{Request, Response};
    /// use http_body_util::BodyExt as _;
    /// use tower::{BoxError, ServiceExt as _, service_fn};
    /// use wheel::Duration;
    /// use wheel::ext::tower::ResponseBodyDeadline;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), BoxError> {
    /// let inner = service_fn(async |_: Request<()>| {
    ///     Ok::<_, BoxError>(Response::new("hello".to_owned()))
    /// });
    /// let service = ResponseBodyDeadline::new(inner, Duration::from_secs(60));
    /// let body = service.oneshot(Request::new(())).await?.into_body();
    /// assert_eq!(body.collect().await?.to_bytes(), "hello");
    /// # Ok(())
    /// # }
    /// ```
    ResponseBodyDeadline
}

/// Implements `$service` for requests, whose bodies it wraps in a `$Body`.
macro_rules! limit_requests {
    ($service:ident, $Body:ident) => {
        impl<S, B> Service<Request<B>> for $service<S>
        where
            S: Service<Request<$Body<B>>>,
        {
            type Response = S::Response;
            type Error = S::Error;
            type Future = S::Future;

            fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
                self.inner.poll_ready(cx)
            }

            fn call(&mut self, request: Request<B>) -> S::Future {
                let limited = |body| $Body::new(self.timeout, body);
                self.inner.call(request.map(limited))
            }
        }
    };
}

/// Implements `$service` for responses, whose bodies it wraps in a `$Body`.
macro_rules! limit_responses {
    ($service:ident, $Body:ident, $Future:ident) => {
        impl<S, Q, B> Service<Request<Q>> for $service<S>
        where
            S: Service<Request<Q>, Response = Response<B>>,
        {
            type Response = Response<$Body<B>>;
            type Error = S::Error;
            type Future = $Future<S::Future>;

            fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
                self.inner.poll_ready(cx)
            }

            fn call(&mut self, request: Request<Q>) -> Self::Future {
                $Future::new(self.inner.call(request), self.timeout)
            }
        }
    };
}

limit_requests!(RequestBodyTimeout, TimeoutBody);
limit_requests!(RequestBodyDeadline, DeadlineBody);
limit_responses!(ResponseBodyTimeout, TimeoutBody, ResponseBodyTimeoutFuture);
limit_responses!(
    ResponseBodyDeadline,
    DeadlineBody,
    ResponseBodyDeadlineFuture
);
