//! Timeouts of bodies, for each frame and for the whole body, compared with tower-http's.

use support::prelude::*;

use std::fmt::Debug;

use axum::Router;
use futures::FutureExt as _;
use futures::stream::{self, BoxStream, StreamExt as _};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Body, Bytes, Frame};
use tokio_test::{assert_pending, task};
use tower::{BoxError, Layer, ServiceBuilder, ServiceExt, service_fn};
use wheel::error::Elapsed;
use wheel::ext::tower::{
    DeadlineBody, RequestBodyDeadlineLayer, RequestBodyTimeout, RequestBodyTimeoutLayer,
    ResponseBodyDeadlineLayer, ResponseBodyTimeoutLayer, TimeoutBody,
};

use super::paused::Refused;

type Slow = StreamBody<BoxStream<'static, Result<Frame<Bytes>, Refused>>>;

/// Returns a body that yields a frame after each of these times, and then ends.
fn slow(pauses: impl IntoIterator<Item = u64, IntoIter: Send + 'static>) -> Slow {
    let frames = stream::iter(pauses).then(async |pause| {
        sleep(ms(pause)).await;
        Ok(Frame::data(Bytes::from_static(b".")))
    });
    StreamBody::new(frames.boxed())
}

/// The time that the reader takes between frames does not count.
#[tokio::test(start_paused = true)]
async fn the_timeout_is_for_each_frame_and_not_for_the_body_or_the_reader() {
    for reader in [ms(0), secs(60)] {
        let start = Instant::now();
        let mut body = TimeoutBody::new(ms(10), slow([9; 20]));
        for _ in 0..20 {
            wheel::advance(reader).await;
            body.frame().await.unwrap().unwrap();
        }
        assert!(body.frame().await.is_none());
        assert_eq!(start.elapsed(), 20 * (reader + ms(9)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_late_frame_is_an_error_when_its_time_is_over() {
    let mut body = TimeoutBody::new(ms(10), slow([5, 5, 30]));
    let start = Instant::now();
    for _ in 0..2 {
        body.frame().await.unwrap().unwrap();
    }
    // Dropping a wait does not start the time again.
    assert!(timeout(ms(6), body.frame()).await.is_err());
    let late = body.frame().await.unwrap().unwrap_err();
    assert!(late.is::<Elapsed>());
    assert_eq!(start.elapsed(), ms(20));
    // When polled again, the frame is still late, until it comes.
    assert!(body.frame().await.unwrap().unwrap_err().is::<Elapsed>());
    wheel::advance(ms(20)).await;
    body.frame().await.unwrap().unwrap();
    assert!(body.frame().await.is_none());
    drop(body);
    assert_eq!(Timers::current().pending(), 0);
}

/// (tower-http polls its timer first, so the frame would be late there.)
#[tokio::test(start_paused = true)]
async fn a_frame_that_comes_at_the_deadline_is_in_time() {
    let mut body = TimeoutBody::new(ms(10), slow([10]));
    let mut frame = task::spawn(body.frame());
    assert_pending!(frame.poll());
    wheel::advance(ms(20)).await;
    frame.await.unwrap().unwrap();
}

/// Checks the hints of a body that is "hello": one frame that is ready, and then the end.
fn hints_are_the_bodys(mut body: impl Body<Error: Debug> + Unpin) {
    for (size, is_end) in [(5, false), (0, true)] {
        assert_eq!(body.size_hint().exact(), Some(size));
        assert_eq!(body.is_end_stream(), is_end);
        let frame = body.frame().now_or_never().unwrap();
        assert_eq!(frame.is_none(), is_end);
    }
}

#[tokio::test(start_paused = true)]
async fn ready_frames_arm_nothing_and_hints_are_the_bodys() {
    let hello = || Full::<Bytes>::from("hello");
    hints_are_the_bodys(TimeoutBody::new(ms(10), hello()));
    hints_are_the_bodys(DeadlineBody::new(Duration::MAX, hello()));
    assert_eq!(wheel::metrics().snapshot().registered, 0);
}

#[tokio::test(start_paused = true)]
async fn the_bodys_own_error_stays_what_it_is() {
    let refuses = || StreamBody::new(stream::iter([Err::<Frame<Bytes>, _>(Refused)]));
    let limited = TimeoutBody::new(ms(10), refuses()).frame().await;
    let whole = DeadlineBody::new(ms(10), refuses()).frame().await;
    for frame in [limited, whole] {
        let error = frame.unwrap().unwrap_err();
        assert_eq!(*error.downcast::<Refused>().unwrap(), Refused);
    }
}

#[tokio::test(start_paused = true)]
async fn layers_limit_the_bodies_of_requests_and_of_responses() {
    let reads = service_fn(async |request: Request<TimeoutBody<Slow>>| {
        request.into_body().collect().await?;
        Ok::<_, BoxError>(Response::new(slow([5, 20])))
    });
    let service = ServiceBuilder::new()
        .layer(RequestBodyTimeoutLayer::new(ms(10)))
        .layer(ResponseBodyTimeoutLayer::new(ms(10)))
        .service(reads);
    let late = service.clone().oneshot(Request::new(slow([5, 20]))).await;
    assert!(late.err().unwrap().is::<Elapsed>());
    let answer = service.oneshot(Request::new(slow([5, 5]))).await.unwrap();
    let mut body = answer.into_body();
    body.frame().await.unwrap().unwrap();
    let late = body.frame().await.unwrap().unwrap_err();
    assert!(late.is::<Elapsed>());
}

fn echo() -> Router {
    Router::new().route("/", axum::routing::post(async |body: String| body))
}

/// Sends a body whose frames come after these times.
async fn upload<P>(app: &Router, pauses: P) -> Response<axum::body::Body>
where
    P: IntoIterator<Item = u64, IntoIter: Send + 'static>,
{
    let body = axum::body::Body::new(slow(pauses));
    let request = Request::post("/").body(body).unwrap();
    app.clone().oneshot(request).await.unwrap()
}

/// axum answers 400 if it cannot read a body.
#[tokio::test(start_paused = true)]
async fn axum_accepts_both_layers() {
    let app = echo().layer(RequestBodyTimeoutLayer::new(ms(10)));
    let app = app.layer(ResponseBodyTimeoutLayer::new(ms(10)));
    let late = upload(&app, [5, 20]).await;
    assert_eq!(late.status(), StatusCode::BAD_REQUEST);
    let answer = upload(&app, [5, 5]).await;
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "..");
}

/// Reads random bodies at random times. With a deadline, each frame ends in the same way, and at the same time, as in
/// tower-http.
#[tokio::test(start_paused = true)]
async fn a_whole_bodys_deadline_is_tower_https() {
    async fn frames<B: Body<Data = Bytes> + Unpin>(
        mut body: B,
        waits: &[u64],
    ) -> Vec<(Duration, &'static str)> {
        let start = Instant::now();
        let mut seen = Vec::new();
        for &wait in waits {
            sleep(ms(wait)).await;
            let frame = match body.frame().await {
                Some(Ok(_)) => "frame",
                Some(Err(_)) => "late",
                None => "end",
            };
            seen.push((start.elapsed(), frame));
        }
        seen
    }

    let mut random = support::Random::new(7);
    let mut counts = std::collections::BTreeMap::new();
    for _ in 0..500 {
        let mut numbers = |most| (0..12).map(|_| random.below(most)).collect::<Vec<_>>();
        let (pauses, waits) = (numbers(9), numbers(4));
        let limit = ms(1 + random.below(60));
        let theirs = tower_http::timeout::DeadlineBody::new(limit, slow(pauses.clone()));
        let theirs = frames(Box::pin(theirs), &waits).await;
        let ours = frames(DeadlineBody::new(limit, slow(pauses.clone())), &waits).await;
        assert_eq!(ours, theirs, "{limit:?}: {pauses:?}, read after {waits:?}");
        for (_, kind) in ours {
            *counts.entry(kind).or_insert(0) += 1;
        }
    }
    assert!(counts["frame"] > 999 && counts["late"] > 999, "{counts:?}");
}

/// A body that always has a frame still ends, because each poll reads the clock. It arms no timer.
#[tokio::test(start_paused = true)]
async fn a_body_that_never_waits_ends_at_its_deadline_and_arms_nothing() {
    let mut body = DeadlineBody::new(ms(10), slow([0; 1000]));
    for _ in 0..10 {
        body.frame().await.unwrap().unwrap();
        wheel::advance(ms(1)).await;
    }
    let registered = wheel::metrics().snapshot().registered;
    for _ in 0..2 {
        let late = body.frame().now_or_never().unwrap();
        assert!(late.unwrap().unwrap_err().is::<Elapsed>());
    }
    assert_eq!(wheel::metrics().snapshot().registered, registered);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_body_leaves_no_timer() {
    let mut body = DeadlineBody::new(ms(10), slow([50]));
    assert!(body.frame().now_or_never().is_none());
    assert!(Timers::current().pending() > 0);
    drop(body);
    assert_eq!(Timers::current().pending(), 0);
}

/// A body whose peer is never silent for long, but sends too slowly. The layers for whole bodies end it.
#[tokio::test(start_paused = true)]
async fn layers_give_whole_bodies_a_deadline() {
    let app = echo().layer(RequestBodyDeadlineLayer::new(ms(100)));
    for (frames, status) in [(11, StatusCode::OK), (12, StatusCode::BAD_REQUEST)] {
        let answer = upload(&app, vec![9; frames]).await;
        assert_eq!(answer.status(), status, "{frames} frames");
    }

    let trickles = service_fn(async |_: Request<()>| {
        sleep(ms(500)).await; // not the body's
        Ok::<_, Refused>(Response::new(slow(vec![9; 100])))
    });
    let service = ResponseBodyDeadlineLayer::new(ms(100)).layer(trickles);
    let mut body = service.oneshot(Request::new(())).await.unwrap().into_body();
    let start = Instant::now();
    for _ in 0..11 {
        body.frame().await.unwrap().unwrap();
    }
    assert!(body.frame().await.unwrap().unwrap_err().is::<Elapsed>());
    assert_eq!(start.elapsed(), ms(100));
}

#[test]
fn readiness_and_access_are_the_services() {
    let inner = service_fn(async |_: Request<TimeoutBody<Slow>>| Ok::<_, Refused>(()));
    let mut service = RequestBodyTimeout::<()>::layer(ms(1)).layer(inner);
    let ready = ServiceExt::<Request<Slow>>::ready(&mut service).now_or_never();
    assert!(ready.is_some());
    let _ = (service.get_ref(), service.clone().get_mut());
    service.into_inner();
}
