//! Layers that put a [`TimeoutBody`] or a [`DeadlineBody`] around the bodies of requests, or of
//! responses.

use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response};
use tower_layer::Layer;
use tower_service::Service;

use super::future::{ResponseBodyDeadlineFuture, ResponseBodyTimeoutFuture};
use super::{DeadlineBody, TimeoutBody};

/// `$layer` puts `$service` around services, which gives a frame or a body so long.
macro_rules! limit {
    (
        $gives:literal
        $(#[$about_layer:meta])* $layer:ident,
        $(#[$about_service:meta])* $service:ident
    ) => {
        $(#[$about_layer])*
        #[derive(Clone, Copy, Debug)]
        pub struct $layer {
            timeout: Duration,
        }

        impl $layer {
            #[doc = $gives]
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
            #[doc = $gives]
            pub const fn new(inner: S, timeout: Duration) -> Self {
                $service { inner, timeout }
            }

            /// The layer that makes such services.
            pub const fn layer(timeout: Duration) -> $layer {
                $layer::new(timeout)
            }

            /// The service, by reference.
            pub const fn get_ref(&self) -> &S {
                &self.inner
            }

            /// The service, by mutable reference.
            pub const fn get_mut(&mut self) -> &mut S {
                &mut self.inner
            }

            /// The service itself.
            pub fn into_inner(self) -> S {
                self.inner
            }
        }
    };
}

limit! {
    "Gives each frame so long."
    /// Limits how long each frame of a request's body may take, and so the silence of a
    /// client that uploads.
    ///
    /// # Examples
    ///
    /// ```
    /// use axum::Router;
    /// use axum::routing::post;
    /// use wheel::{Duration, ext::tower::RequestBodyTimeoutLayer};
    ///
    /// // Reading the body fails once the client has been silent for ten seconds.
    /// let app: Router = Router::new()
    ///     .route("/upload", post(async |body: String| body.len().to_string()))
    ///     .layer(RequestBodyTimeoutLayer::new(Duration::from_secs(10)));
    /// ```
    RequestBodyTimeoutLayer,
    /// A service whose requests have a [`TimeoutBody`], made by [`RequestBodyTimeoutLayer`].
    ///
    /// # Errors
    ///
    /// Those of the service. A late frame is an error of the request's body.
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
    "Gives each frame so long."
    /// Limits how long each frame of a response's body may take, and so the silence of a
    /// handler that streams, or of a backend.
    ///
    /// # Examples
    ///
    /// ```
    /// use axum::Router;
    /// use axum::routing::get;
    /// use wheel::{Duration, ext::tower::ResponseBodyTimeoutLayer};
    ///
    /// let app: Router = Router::new()
    ///     .route("/events", get(async || "hello"))
    ///     .layer(ResponseBodyTimeoutLayer::new(Duration::from_secs(10)));
    /// ```
    ResponseBodyTimeoutLayer,
    /// A service whose responses have a [`TimeoutBody`], made by
    /// [`ResponseBodyTimeoutLayer`].
    ///
    /// # Errors
    ///
    /// Those of the service. A late frame is an error of the response's body.
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
    "Gives each body so long, from the request."
    /// Limits how long the whole body of a request may take, and so a client that uploads
    /// slowly.
    ///
    /// # Examples
    ///
    /// ```
    /// use axum::Router;
    /// use axum::routing::post;
    /// use wheel::{Duration, ext::tower::RequestBodyDeadlineLayer};
    ///
    /// // Reading the body fails when the client has not sent all of it in a minute.
    /// let app: Router = Router::new()
    ///     .route("/upload", post(async |body: String| body.len().to_string()))
    ///     .layer(RequestBodyDeadlineLayer::new(Duration::from_secs(60)));
    /// ```
    RequestBodyDeadlineLayer,
    /// A service whose requests have a [`DeadlineBody`], made by [`RequestBodyDeadlineLayer`].
    ///
    /// # Errors
    ///
    /// Those of the service. A late body ends with an error of the request's body.
    ///
    /// # Panics
    ///
    /// `call`, as [`DeadlineBody::new`].
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
    "Gives each body so long, from the response's head."
    /// Limits how long the whole body of a response may take, and so a client that reads
    /// slowly, or a handler that streams for ever.
    ///
    /// # Examples
    ///
    /// ```
    /// use axum::Router;
    /// use axum::routing::get;
    /// use wheel::{Duration, ext::tower::ResponseBodyDeadlineLayer};
    ///
    /// let app: Router = Router::new()
    ///     .route("/report", get(async || "hello"))
    ///     .layer(ResponseBodyDeadlineLayer::new(Duration::from_secs(60)));
    /// ```
    ResponseBodyDeadlineLayer,
    /// A service whose responses have a [`DeadlineBody`], made by
    /// [`ResponseBodyDeadlineLayer`].
    ///
    /// # Errors
    ///
    /// Those of the service. A late body ends with an error of the response's body.
    ///
    /// # Panics
    ///
    /// The future of a response, as [`DeadlineBody::new`].
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

/// `$service` gives each request's body a limit.
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

/// `$service` gives each response's body a limit.
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
