//! `wheel::ext::tower` limits services as the layers of tower and tower-http do, alone and in axum.
#![cfg(all(feature = "test-util", feature = "tower"))]

use support::prelude::*;

use std::fmt::Error as Refused;
use std::future::{pending, ready};
use std::io;

use axum::Router;
use axum::body::Body;
use axum::error_handling::HandleErrorLayer;
use axum::routing::get;
use futures::FutureExt as _;
use http::{Request, Response, StatusCode};
use tokio_test::{assert_pending, task};
use tower::util::future_service;
use tower::{BoxError, Layer, Service, ServiceBuilder, ServiceExt, service_fn};
use wheel::error::Elapsed;
use wheel::ext::tower::{self as timeouts, Timeout, TimeoutLayer};

async fn never((): ()) -> Result<(), Refused> {
    pending().await
}

/// The names are those of `tower::timeout`, so its users change only the path. The response future is `Send`.
#[tokio::test(start_paused = true)]
async fn a_late_request_ends_with_elapsed_and_the_time_counts_from_the_call() {
    let layer = TimeoutLayer::new(ms(10));
    let mut service: timeouts::Timeout<_> = layer.layer(service_fn(never));
    let start = Instant::now();
    let response: timeouts::future::ResponseFuture<_> = service.call(());
    wheel::advance(ms(6)).await;
    let error = tokio::spawn(response).await.unwrap().unwrap_err();
    assert_eq!(start.elapsed(), ms(10));
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

#[tokio::test(start_paused = true)]
async fn the_services_errors_are_passed_on_and_with_a_status_code_so_is_their_type() {
    let service = || service_fn(async |(): ()| Err::<Response<String>, _>(Refused));
    let boxed = Timeout::new(service(), ms(1)).oneshot(()).await;
    assert!(boxed.unwrap_err().is::<Refused>());
    let service = Timeout::with_status_code(service(), StatusCode::GATEWAY_TIMEOUT, ms(1));
    assert_eq!(service.oneshot(()).await.unwrap_err(), Refused);
}

/// A request: the time until its answer, and its timeout.
type Limited = (Duration, Option<Duration>);

async fn echo((delay, _): Limited) -> Result<Response<String>, Refused> {
    sleep(delay).await;
    Ok(Response::new("made".to_owned()))
}

/// An answer that is ready at its deadline is in time, because the service is polled before the timer.
#[tokio::test(start_paused = true)]
async fn each_request_has_the_timeout_that_a_function_returns_for_it() {
    let service = TimeoutLayer::by(|(_, limit): &Limited| *limit).layer(service_fn(echo));
    let status = StatusCode::GATEWAY_TIMEOUT;
    let answering = TimeoutLayer::with_status_code_by(status, |(_, limit): &Limited| *limit);
    let answering = answering.layer(service_fn(echo));
    for (delay, limit, in_time) in [
        (10, Some(ms(10)), true),
        (11, Some(ms(10)), false),
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
        let expected = [(status, ""), (StatusCode::OK, "made")][usize::from(in_time)];
        let found = (answer.status(), answer.body().as_str());
        assert_eq!(found, expected, "{request:?}");
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
    let limit = |request: &Request<Body>| Some(HOUR / request.uri().path().len() as u32);
    let layer = TimeoutLayer::with_status_code_by(StatusCode::SERVICE_UNAVAILABLE, limit);
    let app = app.route("/slow", get(async || sleep(ms(20)).await));
    let app = app.route("/never", never()).layer(layer);
    for (path, after, status) in [
        ("/", secs(5), 408),
        ("/upstream", secs(9), 504),
        ("/slow", ms(20), 200),
        ("/never", HOUR / 6, 503),
    ] {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let start = Instant::now();
        let answer = app.clone().oneshot(request).await.unwrap();
        assert_eq!(answer.status(), status, "{path}");
        assert_eq!(start.elapsed(), after, "{path}");
    }
}
