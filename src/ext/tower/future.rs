//! [`ResponseFuture`], which ends a late response.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::{Response, StatusCode};
use pin_project_lite::pin_project;

use super::{AsError, BoxError};
use crate::timeout::{self, timeout};

pin_project! {
    /// Future returned by a [`Timeout`](super::Timeout) service.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// use tower::{Service, BoxError, service_fn};
    /// use wheel::{Duration, ext::tower::{Timeout, ResponseFuture}};
    ///
    /// let inner = service_fn(async |n: u32| Ok::<_, BoxError>(n + 1));
    /// let response: ResponseFuture<_> = Timeout::new(inner, Duration::from_secs(1)).call(1);
    /// assert_eq!(response.await.unwrap(), 2);
    /// # }
    /// ```
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    #[derive(Debug)]
    pub struct ResponseFuture<F, L = AsError> {
        #[pin]
        response: timeout::Timeout<F>,
        late: L,
    }
}

impl<F: Future, L> ResponseFuture<F, L> {
    #[track_caller]
    pub(super) fn new(response: F, limit: Duration, late: L) -> Self {
        let response = timeout(limit, response);
        ResponseFuture { response, late }
    }
}

impl<F, T, E> Future for ResponseFuture<F, AsError>
where
    F: Future<Output = Result<T, E>>,
    E: Into<BoxError>,
{
    type Output = Result<T, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let response = ready!(self.project().response.poll(cx));
        Poll::Ready(match response {
            Ok(in_time) => in_time.map_err(Into::into),
            Err(elapsed) => Err(elapsed.into()),
        })
    }
}

impl<F, B, E> Future for ResponseFuture<F, StatusCode>
where
    F: Future<Output = Result<Response<B>, E>>,
    B: Default,
{
    type Output = Result<Response<B>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let me = self.project();
        let response = ready!(me.response.poll(cx));
        Poll::Ready(response.unwrap_or_else(|_elapsed| {
            let mut empty = Response::default();
            *empty.status_mut() = *me.late;
            Ok(empty)
        }))
    }
}
