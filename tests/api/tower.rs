//! `wheel::ext::tower` limits services as the layers of tower and tower-http do, alone and in axum.
#![cfg(feature = "tower")]

use support::prelude::*;

use axum::Router;
use axum::body::Body;
use axum::routing::get;
use http::{Request, StatusCode};
use tower::ServiceExt;
use wheel::ext::tower::{self as timeouts, TimeoutLayer};

#[test]
fn layers_and_services_are_made_without_a_runtime() {
    const LAYER: TimeoutLayer = TimeoutLayer::new(std::time::Duration::MAX);
    fn shared<T: Send + Sync + Clone + fmt::Debug + Unpin + 'static>(_: T) {}
    shared(LAYER);
    shared(TimeoutLayer::with_status_code(StatusCode::OK, ms(1)));
    shared(timeouts::Timeout::new((), ms(1)));
    shared(TimeoutLayer::by(|after: &Duration| Some(*after)));
    shared(TimeoutLayer::with_status_code_by(
        StatusCode::OK,
        |_: &()| None,
    ));
    shared(tower_layer_of(TimeoutLayer::by(|_: &()| None)));
}

/// Applies a layer to a type that is no service.
fn tower_layer_of<L: tower::Layer<()>>(layer: L) -> L::Service {
    layer.layer(())
}

#[cfg(feature = "test-util")]
pub(crate) mod paused {
    use std::future::{pending, ready};
    use std::io;

    use axum::error_handling::HandleErrorLayer;
    use futures::FutureExt as _;
    use http::Response;
    use tokio_test::{assert_pending, task};
    use tower::util::future_service;
    use tower::{BoxError, Layer, Service, ServiceBuilder, service_fn};
    use wheel::error::Elapsed;
    use wheel::ext::tower::Timeout;

    use super::*;

    #[derive(Debug, PartialEq)]
    pub(crate) struct Refused;

    impl fmt::Display for Refused {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("refused")
        }
    }

    impl std::error::Error for Refused {}

    /// Answers after `delay`, with the request.
    async fn echo_after(delay: Duration) -> Result<Duration, Refused> {
        sleep(delay).await;
        Ok(delay)
    }

    async fn never((): ()) -> Result<(), Refused> {
        pending().await
    }

    /// The names are those of `tower::timeout`, so its users change only the path. The response future is `Send`.
    #[tokio::test(start_paused = true)]
    async fn a_late_request_ends_with_elapsed_and_the_time_counts_from_the_call() {
        let layer = TimeoutLayer::new(ms(10));
        let mut service: timeouts::Timeout<_> = layer.layer(service_fn(echo_after));
        let start = Instant::now();
        let response: timeouts::future::ResponseFuture<_> = service.call(secs(1));
        wheel::advance(ms(6)).await;
        let error = tokio::spawn(response).await.unwrap().unwrap_err();
        assert_eq!(start.elapsed(), ms(10));
        assert_eq!(
            wheel::metrics().snapshot().pending,
            0,
            "its future was kept"
        );
        let elapsed = error.downcast::<timeouts::error::Elapsed>().unwrap();
        assert_eq!(elapsed.to_string(), "deadline has elapsed");
        assert_eq!(io::Error::from(*elapsed).kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn an_immediate_answer_arms_nothing() {
        let mut ready = Timeout::new(service_fn(|n: u32| ready(Ok::<_, Refused>(n))), ms(0));
        assert_eq!(ready.call(5).now_or_never().unwrap().unwrap(), 5);

        // A call that is never polled arms no timer either. A call that waits arms one.
        let mut response = task::spawn(Timeout::new(service_fn(never), ms(10)).call(()));
        assert_eq!(wheel::metrics().snapshot().pending, 0);
        assert_pending!(response.poll());
        assert_eq!(wheel::metrics().snapshot().pending, 1);
        drop(response);
        assert_eq!(wheel::metrics().snapshot().armed, 1);
        assert_eq!(wheel::metrics().snapshot().pending, 0);
        Timeout::new(service_fn(never), ms(0))
            .oneshot(())
            .await
            .unwrap_err();
    }

    /// A clone has the same timeout, and concurrent requests have a timer each. An answer that is ready at its deadline is
    /// in time, because the service is polled before the timer.
    #[tokio::test(start_paused = true)]
    async fn requests_share_a_timeout_but_no_timer() {
        let service = Timeout::new(service_fn(echo_after), ms(10));
        let calls = (1..=20).map(|n| service.clone().oneshot(ms(n)).map(|answer| answer.is_ok()));
        let answered = futures::future::join_all(calls).await;
        assert_eq!(answered, (1..=20).map(|n| n <= 10).collect::<Vec<_>>());
    }

    #[tokio::test(start_paused = true)]
    async fn duration_max_is_no_timeout() {
        let service = Timeout::new(service_fn(echo_after), Duration::MAX);
        let year = secs(365 * 24 * 3600);
        assert_eq!(service.oneshot(40 * year).await.unwrap(), 40 * year);
    }

    /// The timeout does not apply while the service is not ready. An error of its readiness is passed on.
    #[tokio::test(start_paused = true)]
    async fn readiness_is_the_services() {
        for outcome in [Ok(service_fn(never)), Err(Refused)] {
            let (tell, told) = oneshot::channel();
            let inner = future_service(Box::pin(async { told.await.unwrap() }));
            let mut service = Timeout::new(inner, ms(1));
            wheel::advance(secs(1)).await;
            assert!(service.ready().now_or_never().is_none());
            let is_refused = outcome.is_err();
            assert!(tell.send(outcome).is_ok());
            let error = service.ready().now_or_never().unwrap().err();
            let found = error.map(|error| error.is::<Refused>());
            assert_eq!(found, is_refused.then_some(true));
            let _ = service.get_ref();
            let _ = service.get_mut();
            service.into_inner();
        }
    }

    /// A request: the time until its answer, and its timeout.
    type Limited = (Duration, Option<Duration>);

    async fn echo((delay, _): Limited) -> Result<Response<String>, Refused> {
        sleep(delay).await;
        Ok(Response::new("made".to_owned()))
    }

    #[tokio::test(start_paused = true)]
    async fn each_request_has_the_timeout_that_a_function_returns_for_it() {
        let service = TimeoutLayer::by(|(_, limit): &Limited| *limit).layer(service_fn(echo));
        let status = StatusCode::GATEWAY_TIMEOUT;
        let answering = TimeoutLayer::with_status_code_by(status, |(_, limit): &Limited| *limit);
        let answering = answering.layer(service_fn(echo));
        for (delay, limit, in_time) in [
            (9, Some(ms(10)), true),
            (9, Some(ms(5)), false),
            (9, Some(ms(0)), false),
            (9, Some(Duration::MAX), true),
            (100_000, None, true),
        ] {
            let request = (ms(delay), limit);
            let after = if in_time { request.0 } else { limit.unwrap() };
            let start = Instant::now();
            let answer = service.clone().oneshot(request).await;
            let is_late = answer.is_err_and(|error| error.is::<Elapsed>());
            assert_eq!((!is_late, start.elapsed()), (in_time, after), "{request:?}");
            let answer = answering.clone().oneshot(request).await.unwrap();
            let expected = if in_time { StatusCode::OK } else { status };
            assert_eq!(answer.status(), expected, "{request:?}");
        }
    }

    #[test]
    fn a_request_without_a_timeout_needs_no_timer_and_no_runtime() {
        let mut service = TimeoutLayer::by(|_: &()| None).layer(service_fn(never));
        let mut response = task::spawn(service.call(()));
        assert_pending!(response.poll());
        let mut limited = TimeoutLayer::by(|_: &()| Some(ms(1))).layer(service_fn(never));
        assert_eq!(message_of(|| limited.call(())), NO_RUNTIME);
    }

    #[tokio::test(start_paused = true)]
    async fn if_the_function_panics_nothing_is_called_or_armed() {
        let called = AtomicBool::new(false);
        let inner = service_fn(|(): ()| {
            called.store(true, Ordering::Relaxed);
            ready(Ok::<_, Refused>(()))
        });
        let layer = TimeoutLayer::by(|_: &()| panic!("no header"));
        let mut service = layer.layer(inner);
        assert_eq!(message_of(|| service.call(())), "no header");
        assert!(!called.load(Ordering::Relaxed));
        assert_eq!(wheel::metrics().snapshot().armed, 0);
    }

    /// Errors and readiness are the inner service's, and an axum router accepts the layer.
    #[tokio::test(start_paused = true)]
    async fn a_limit_by_request_passes_on_what_the_service_does() {
        let refuses = service_fn(async |(): ()| Err::<(), _>(Refused));
        let layer = TimeoutLayer::by(|_: &()| Some(ms(1)));
        let error = layer.layer(refuses).oneshot(()).await.unwrap_err();
        assert!(error.is::<Refused>());
        let unready = future_service(pending::<
            Result<tower::util::BoxService<(), (), Refused>, Refused>,
        >());
        assert!(layer.layer(unready).ready().now_or_never().is_none());

        let limit = |request: &Request<Body>| {
            let millis = request.headers().get("x-timeout-ms")?.to_str().ok()?;
            Some(ms(millis.parse().ok()?))
        };
        let layer = TimeoutLayer::with_status_code_by(StatusCode::REQUEST_TIMEOUT, limit);
        let app = Router::new().route("/", get(async || sleep(ms(20)).await));
        let app = app.layer(layer);
        for (header, status) in [("19", 408), ("21", 200), ("soon", 200)] {
            let request = Request::get("/").header("x-timeout-ms", header);
            let answer = app.clone().oneshot(request.body(Body::empty()).unwrap());
            assert_eq!(answer.await.unwrap().status(), status, "{header}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_status_code_keeps_the_services_error_type() {
        let service = service_fn(async |delay: Duration| {
            sleep(delay).await;
            match delay < ms(5) {
                true => Err(Refused),
                false => Ok(Response::new("made".to_owned())),
            }
        });
        let layer = TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, ms(10));
        let service = layer.layer(service);
        let error: Refused = service.clone().oneshot(ms(1)).await.unwrap_err();
        assert_eq!(error, Refused);
        let start = Instant::now();
        for (delay, elapsed, status, body) in [(9, 9, 200, "made"), (11, 19, 504, "")] {
            let answer = service.clone().oneshot(ms(delay)).await.unwrap();
            let found = (answer.status().as_u16(), answer.body().as_str());
            assert_eq!((found, start.elapsed()), ((status, body), ms(elapsed)));
        }
    }

    /// With tower's layer, axum needs a handler that turns the error into an answer. The other routes have layers with a
    /// status code.
    #[tokio::test(start_paused = true)]
    async fn axum_handles_the_error_by_downcast_and_answers_with_the_status_code() {
        let answer = async |error: BoxError| match error.is::<Elapsed>() {
            true => StatusCode::REQUEST_TIMEOUT,
            false => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let layers = ServiceBuilder::new()
            .layer(HandleErrorLayer::new(answer))
            .layer(TimeoutLayer::new(secs(5)));
        let never = || get(pending::<&str>);
        let app = Router::new().route("/", never()).layer(layers);
        let layer = TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, secs(9));
        let app = app.route("/upstream", never()).layer(layer);
        let layer = TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, secs(3600));
        let app = app.route("/slow", get(async || sleep(ms(20)).await));
        for (path, after, status) in [
            ("/", 5000, 408),
            ("/upstream", 9000, 504),
            ("/slow", 20, 200),
        ] {
            let request = Request::get(path).body(Body::empty()).unwrap();
            let start = Instant::now();
            let answer = app.clone().layer(layer).oneshot(request).await.unwrap();
            assert_eq!(answer.status(), status, "{path}");
            assert_eq!(start.elapsed(), ms(after), "{path}");
        }
    }
}
