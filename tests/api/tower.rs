//! `wheel::ext::tower` under a paused clock, and in axum over loopback.
#![cfg(feature = "tower")]

use std::fmt;

use axum::Router;
use axum::routing::get;
use http::StatusCode;
use support::{ms, multi_thread, secs, within};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use wheel::ext::tower::TimeoutLayer;

/// The status line of the answer to `GET path`.
async fn status_of(address: std::net::SocketAddr, path: &str) -> String {
    let mut socket = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n");
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    answer.lines().next().unwrap().to_owned()
}

/// One router with a layer of each kind, as a service would have it, in real time.
#[test]
fn axum_answers_late_requests_with_the_status_code() {
    within(secs(60), || {
        multi_thread(2).block_on(async {
            let never = get(std::future::pending::<&str>);
            let layer = TimeoutLayer::with_status_code;
            let app = Router::new()
                .route("/never", never.clone())
                .layer(layer(StatusCode::REQUEST_TIMEOUT, ms(50)))
                .route("/upstream", never)
                .layer(layer(StatusCode::GATEWAY_TIMEOUT, ms(100)))
                .route("/", get(async || "hello"))
                .route("/slow", get(slow))
                .layer(layer(StatusCode::SERVICE_UNAVAILABLE, secs(3600)));
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            tokio::spawn(async { axum::serve(listener, app).await });

            let began = wheel::Instant::now();
            let never = status_of(address, "/never").await;
            assert_eq!(never, "HTTP/1.1 408 Request Timeout");
            assert!(began.elapsed() >= ms(50), "answered early");
            let upstream = status_of(address, "/upstream").await;
            assert_eq!(upstream, "HTTP/1.1 504 Gateway Timeout");
            assert!(began.elapsed() >= ms(150), "answered early");
            assert_eq!(status_of(address, "/").await, "HTTP/1.1 200 OK");
            assert_eq!(status_of(address, "/slow").await, "HTTP/1.1 200 OK");
        });
    });
}

async fn slow() -> &'static str {
    wheel::sleep(ms(20)).await;
    "here you are"
}

#[test]
fn layers_and_services_are_made_without_a_runtime() {
    const LAYER: TimeoutLayer = TimeoutLayer::new(std::time::Duration::MAX);
    fn shared<T: Send + Sync + Clone + fmt::Debug + Unpin + 'static>(value: T) -> T {
        value
    }
    shared(LAYER);
    shared(TimeoutLayer::with_status_code(
        StatusCode::REQUEST_TIMEOUT,
        ms(1),
    ));
    shared(wheel::ext::tower::Timeout::new((), ms(1)));
    shared(wheel::ext::tower::RequestBodyTimeoutLayer::new(ms(1)));
    shared(wheel::ext::tower::RequestBodyTimeout::new((), ms(1)));
    shared(wheel::ext::tower::ResponseBodyTimeoutLayer::new(ms(1)));
    shared(wheel::ext::tower::ResponseBodyTimeout::new((), ms(1)));
}

#[cfg(feature = "test-util")]
mod paused {
    use std::future::{Ready, pending, ready};
    use std::io;
    use std::sync::Arc;
    use std::task::{Context, Poll, Waker};
    use std::time::Duration;

    use axum::body::Body;
    use axum::error_handling::HandleErrorLayer;
    use futures::FutureExt as _;
    use http::{Request, Response};
    use tower::{BoxError, Layer, Service, ServiceBuilder, ServiceExt as _, service_fn};
    use wheel::error::Elapsed;
    use wheel::ext::tower::Timeout;
    use wheel::{Instant, Wheel, sleep, timeout};

    use super::*;
    use support::{NO_RUNTIME, message_of, poll_quietly};

    #[derive(Debug, PartialEq)]
    struct Refused;

    impl fmt::Display for Refused {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("refused")
        }
    }

    impl std::error::Error for Refused {}

    /// Answers with the request after so long.
    async fn echo_after(delay: Duration) -> Result<Duration, Refused> {
        sleep(delay).await;
        Ok(delay)
    }

    #[tokio::test(start_paused = true)]
    async fn a_late_request_ends_with_elapsed() {
        let service = TimeoutLayer::new(ms(10)).layer(service_fn(echo_after));
        let start = Instant::now();
        let error = service.oneshot(secs(1)).await.unwrap_err();
        assert_eq!(start.elapsed(), ms(10));
        assert_eq!(
            Wheel::current().pending(),
            0,
            "the service's future was kept"
        );
        let elapsed = error.downcast::<Elapsed>().unwrap();
        assert_eq!(elapsed.to_string(), "deadline has elapsed");
        assert_eq!(io::Error::from(*elapsed).kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_in_time_is_given_out() {
        let service = ServiceBuilder::new()
            .layer(TimeoutLayer::new(ms(10)))
            .service_fn(echo_after);
        assert_eq!(service.oneshot(ms(9)).await.unwrap(), ms(9));
    }

    #[tokio::test(start_paused = true)]
    async fn a_services_own_error_stays_what_it_is() {
        let refuses = service_fn(async |(): ()| Err::<(), _>(Refused));
        let error: BoxError = Timeout::new(refuses, ms(10)).oneshot(()).await.unwrap_err();
        assert_eq!(*error.downcast::<Refused>().unwrap(), Refused);
    }

    /// Ready with its deadline: a timer that was polled first would win.
    #[tokio::test(start_paused = true)]
    async fn the_service_is_polled_first() {
        let mut service = Timeout::new(service_fn(echo_after), ms(10));
        let mut response = Box::pin(service.ready().await.unwrap().call(ms(10)));
        assert!(poll_quietly(&mut response).is_pending());
        wheel::advance(ms(20)).await;
        assert_eq!(response.await.unwrap(), ms(10));
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_at_once_registers_nothing() {
        let wheel = Wheel::current();
        let mut service = Timeout::new(service_fn(|n: u32| ready(Ok::<_, Refused>(n))), ms(10));
        let response = service.ready().await.unwrap().call(5);
        assert_eq!(response.now_or_never().unwrap().unwrap(), 5);

        // Nor does one that was called and never polled; one that waits registers one timer.
        let mut service = Timeout::new(service_fn(|()| pending::<Result<(), Refused>>()), ms(10));
        let mut response = Box::pin(service.ready().await.unwrap().call(()));
        assert_eq!(wheel.pending(), 0);
        assert!(poll_quietly(&mut response).is_pending());
        assert_eq!(wheel.pending(), 1);
        drop(response);
        assert_eq!(wheel.pending(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_counts_from_the_call() {
        let mut service = Timeout::new(service_fn(echo_after), ms(10));
        let start = Instant::now();
        let response = service.ready().await.unwrap().call(secs(1));
        wheel::advance(ms(6)).await;
        response.await.unwrap_err();
        assert_eq!(start.elapsed(), ms(10));
    }

    /// A clone has the same limit, and concurrent requests have a timer each.
    #[tokio::test(start_paused = true)]
    async fn requests_share_a_limit_and_no_timer() {
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

    #[tokio::test(start_paused = true)]
    async fn zero_lets_through_what_is_ready() {
        let mut service = Timeout::new(service_fn(|n: u32| ready(Ok::<_, Refused>(n))), ms(0));
        assert_eq!(service.ready().await.unwrap().call(1).await.unwrap(), 1);
        let never = service_fn(|()| pending::<Result<(), Refused>>());
        Timeout::new(never, ms(0)).oneshot(()).await.unwrap_err();
    }

    /// A service that is not ready stays so for as long as it likes, and its readiness's error is
    /// passed on.
    #[derive(Debug)]
    struct Busy(Poll<Result<(), Refused>>);

    impl Service<()> for Busy {
        type Response = ();
        type Error = Refused;
        type Future = Ready<Result<(), Refused>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Refused>> {
            std::mem::replace(&mut self.0, Poll::Pending)
        }

        fn call(&mut self, (): ()) -> Self::Future {
            ready(Ok(()))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn readiness_is_the_services() {
        let mut cx = Context::from_waker(Waker::noop());
        let mut service = Timeout::new(Busy(Poll::Pending), ms(1));
        wheel::advance(secs(1)).await;
        assert!(Service::poll_ready(&mut service, &mut cx).is_pending());
        service.get_mut().0 = Poll::Ready(Ok(()));
        assert!(matches!(
            Service::poll_ready(&mut service, &mut cx),
            Poll::Ready(Ok(()))
        ));
        service.get_mut().0 = Poll::Ready(Err(Refused));
        let Poll::Ready(Err(error)) = Service::poll_ready(&mut service, &mut cx) else {
            panic!("the error is gone");
        };
        assert!(error.is::<Refused>());
        assert!(service.into_inner().0.is_pending());
    }

    #[tokio::test(start_paused = true)]
    async fn a_status_code_keeps_the_services_error_type() {
        let service = service_fn(async |delay: Duration| {
            sleep(delay).await;
            match delay < ms(5) {
                true => Err(Refused),
                false => Ok(Response::builder()
                    .status(201)
                    .body("made".to_owned())
                    .unwrap()),
            }
        });
        let service =
            TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, ms(10)).layer(service);
        let error: Refused = service.clone().oneshot(ms(1)).await.unwrap_err();
        assert_eq!(error, Refused);
        let made = service.clone().oneshot(ms(9)).await.unwrap();
        assert_eq!(
            (made.status(), made.body().as_str()),
            (StatusCode::CREATED, "made")
        );
        let start = Instant::now();
        let late = service.oneshot(ms(11)).await.unwrap();
        assert_eq!(start.elapsed(), ms(10));
        assert_eq!(
            (late.status(), late.body().as_str()),
            (StatusCode::GATEWAY_TIMEOUT, "")
        );
    }

    /// axum's own way with tower's layer: an error, and a handler that turns it into an answer.
    #[tokio::test(start_paused = true)]
    async fn axum_handles_the_error_by_downcast() {
        let answer = async |error: BoxError| match error.is::<Elapsed>() {
            true => StatusCode::REQUEST_TIMEOUT,
            false => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let layers = ServiceBuilder::new()
            .layer(HandleErrorLayer::new(answer))
            .layer(TimeoutLayer::new(secs(5)));
        let app = Router::new().route("/", get(pending::<&str>)).layer(layers);
        let request = Request::get("/").body(Body::empty()).unwrap();
        assert_eq!(app.oneshot(request).await.unwrap().status(), 408);
    }

    /// A service that spends the task's whole budget at each poll still runs into its limit.
    #[tokio::test(start_paused = true)]
    async fn a_service_that_burns_the_budget_is_timed_out() {
        let burns = service_fn(async |()| -> Result<(), Refused> {
            for _ in 0..1_000_000 {
                tokio::task::coop::consume_budget().await;
            }
            Ok(())
        });
        let late = Timeout::new(burns, ms(1)).oneshot(());
        let advancing = tokio::spawn(async { wheel::advance(ms(5)).await });
        late.await.unwrap_err();
        advancing.await.unwrap();
    }

    /// As tower's does.
    #[test]
    fn a_call_outside_a_runtime_panics() {
        let mut service = Timeout::new(service_fn(|()| ready(Ok::<_, Refused>(()))), ms(1));
        assert_eq!(message_of(|| service.call(())), NO_RUNTIME);
    }

    /// The names that `tower::timeout` has are here: its users change the path.
    #[tokio::test(start_paused = true)]
    async fn towers_paths_resolve() {
        use wheel::ext::tower as timeouts;
        type Late = timeouts::error::Elapsed;
        let never = service_fn(|()| pending::<Result<(), BoxError>>());
        let mut service: timeouts::Timeout<_> = timeouts::Timeout::new(never, ms(1));
        let response: timeouts::future::ResponseFuture<_> = service.call(());
        assert!(response.await.unwrap_err().is::<Late>());
    }

    #[tokio::test(start_paused = true)]
    async fn responses_can_be_sent() {
        fn sent<T: Send + 'static>(value: T) -> T {
            value
        }
        let service = Timeout::new(service_fn(echo_after), ms(10));
        let shared = Arc::new(sent(service));
        let response = sent(shared.as_ref().clone().call(ms(1)));
        tokio::spawn(timeout(secs(1), response))
            .await
            .unwrap()
            .unwrap()
            .unwrap();
    }

    mod bodies {
        use std::collections::VecDeque;
        use std::pin::Pin;

        use http_body_util::{BodyExt as _, Full};
        use hyper::body::{Body, Bytes, Frame, SizeHint};
        use wheel::Sleep;
        use wheel::ext::tower::{
            RequestBodyTimeout, RequestBodyTimeoutLayer, ResponseBodyTimeoutLayer, TimeoutBody,
        };

        use super::*;

        /// A frame after each of these times, then an error or the end.
        #[derive(Debug)]
        struct Slow {
            pauses: VecDeque<Duration>,
            sleep: Option<Sleep>,
            refuses: bool,
        }

        fn slow(pauses: impl IntoIterator<Item = u64>) -> Slow {
            let pauses = pauses.into_iter().map(ms).collect();
            Slow {
                pauses,
                sleep: None,
                refuses: false,
            }
        }

        impl Body for Slow {
            type Data = Bytes;
            type Error = Refused;

            fn poll_frame(
                mut self: Pin<&mut Self>,
                cx: &mut Context<'_>,
            ) -> Poll<Option<Result<Frame<Bytes>, Refused>>> {
                let Some(&pause) = self.pauses.front() else {
                    return Poll::Ready(self.refuses.then_some(Err(Refused)));
                };
                let sleep = self.sleep.get_or_insert_with(|| sleep(pause));
                std::task::ready!(Pin::new(sleep).poll(cx));
                self.pauses.pop_front();
                self.sleep = None;
                Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b".")))))
            }

            fn is_end_stream(&self) -> bool {
                self.pauses.is_empty()
            }

            fn size_hint(&self) -> SizeHint {
                SizeHint::with_exact(self.pauses.len() as u64)
            }
        }

        #[tokio::test(start_paused = true)]
        async fn the_time_is_each_frames_and_not_the_bodys() {
            let start = Instant::now();
            let body = TimeoutBody::new(ms(10), slow([9; 20]));
            assert_eq!(body.collect().await.unwrap().to_bytes().len(), 20);
            assert_eq!(start.elapsed(), ms(180));
        }

        #[tokio::test(start_paused = true)]
        async fn a_late_frame_is_an_error_when_its_time_is_over() {
            let mut body = TimeoutBody::new(ms(10), slow([5, 5, 30]));
            let start = Instant::now();
            for _ in 0..2 {
                body.frame().await.unwrap().unwrap();
            }
            let late = body.frame().await.unwrap().unwrap_err();
            assert!(late.is::<Elapsed>());
            assert_eq!(start.elapsed(), ms(20));
            // Asked again, it is still late, until the frame comes.
            assert!(body.frame().await.unwrap().unwrap_err().is::<Elapsed>());
            wheel::advance(ms(20)).await;
            body.frame().await.unwrap().unwrap();
            assert!(body.frame().await.is_none());
            drop(body);
            assert_eq!(Wheel::current().pending(), 0);
        }

        /// tower-http's timer is polled first, and would win.
        #[tokio::test(start_paused = true)]
        async fn a_frame_that_comes_with_the_deadline_is_given_out() {
            let mut body = TimeoutBody::new(ms(10), slow([10]));
            let mut frame = Box::pin(body.frame());
            assert!(poll_quietly(&mut frame).is_pending());
            wheel::advance(ms(20)).await;
            frame.await.unwrap().unwrap();
        }

        /// The time between frames is the reader's own.
        #[tokio::test(start_paused = true)]
        async fn a_slow_reader_is_not_late() {
            let mut body = TimeoutBody::new(ms(10), slow([1, 1]));
            for _ in 0..2 {
                wheel::advance(secs(60)).await;
                body.frame().await.unwrap().unwrap();
            }
        }

        #[tokio::test(start_paused = true)]
        async fn dropping_the_wait_for_a_frame_does_not_start_the_time_again() {
            let mut body = TimeoutBody::new(ms(10), slow([100]));
            let start = Instant::now();
            assert!(timeout(ms(6), body.frame()).await.is_err());
            assert!(body.frame().await.unwrap().is_err());
            assert_eq!(start.elapsed(), ms(10));
        }

        #[tokio::test(start_paused = true)]
        async fn frames_that_are_there_register_nothing_and_hints_are_the_bodys() {
            let mut body = TimeoutBody::new(ms(10), Full::<Bytes>::from("hello"));
            assert_eq!(
                (body.size_hint().exact(), body.is_end_stream()),
                (Some(5), false)
            );
            body.frame().now_or_never().unwrap().unwrap().unwrap();
            assert_eq!(
                (body.size_hint().exact(), body.is_end_stream()),
                (Some(0), true)
            );
            assert_eq!(wheel::metrics().snapshot().registered, 0);
        }

        #[tokio::test(start_paused = true)]
        async fn the_bodys_own_error_stays_what_it_is() {
            let mut refuses = slow([]);
            refuses.refuses = true;
            let error = TimeoutBody::new(ms(10), refuses)
                .collect()
                .await
                .unwrap_err();
            assert_eq!(*error.downcast::<Refused>().unwrap(), Refused);
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
            assert!(late.unwrap_err().is::<Elapsed>());
            let answer = service.oneshot(Request::new(slow([5, 5]))).await.unwrap();
            let mut body = answer.into_body();
            body.frame().await.unwrap().unwrap();
            let late = body.frame().await.unwrap().unwrap_err();
            assert!(late.is::<Elapsed>());
        }

        /// axum answers 400 where a body cannot be read.
        #[tokio::test(start_paused = true)]
        async fn axum_takes_both() {
            let app = Router::new()
                .route("/", axum::routing::post(async |body: String| body))
                .layer(RequestBodyTimeoutLayer::new(ms(10)))
                .layer(ResponseBodyTimeoutLayer::new(ms(10)));
            let upload = async |pauses: [u64; 2]| {
                let request = Request::post("/")
                    .body(axum::body::Body::new(slow(pauses)))
                    .unwrap();
                app.clone().oneshot(request).await.unwrap()
            };
            assert_eq!(upload([5, 20]).await.status(), StatusCode::BAD_REQUEST);
            let answer = upload([5, 5]).await;
            assert_eq!(answer.status(), StatusCode::OK);
            assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "..");
        }

        #[test]
        fn readiness_and_access_are_the_services() {
            let mut cx = Context::from_waker(Waker::noop());
            let inner = service_fn(async |_: Request<TimeoutBody<Slow>>| Ok::<_, Refused>(()));
            let mut service = RequestBodyTimeout::<()>::layer(ms(1)).layer(inner);
            assert!(Service::<Request<Slow>>::poll_ready(&mut service, &mut cx).is_ready());
            let _ = (service.get_ref(), service.clone().get_mut());
            service.into_inner();
        }
    }
}
