//! hyper and hyper-util keep time by `WheelTimer`, on either side of a connection, and the `Timer` itself is exact.
#![cfg(feature = "hyper")]

use support::prelude::*;

use std::convert::Infallible;

use http_body_util::{BodyExt as _, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;
use wheel::ext::hyper::WheelTimer;

/// Bounds of hyper's and hyper-util's builders, and of users' own structs.
#[test]
fn timers_and_sleeps_can_be_sent_and_shared() {
    fn timer<T>(_: T)
    where
        T: hyper::rt::Timer + Copy + std::fmt::Debug + Default + Send + Sync + Unpin + 'static,
    {
    }
    fn sleep<T: hyper::rt::Sleep + Send + Sync + Unpin + std::fmt::Debug + 'static>() {}
    timer(WheelTimer);
    sleep::<wheel::Sleep>();
}

async fn hello(_request: Request<Incoming>) -> Result<Response<String>, Infallible> {
    Ok(Response::new("hello".to_owned()))
}

/// Over loopback and in real time, on threads of a runtime that has some.
#[test]
fn a_pool_gives_idle_connections_up() {
    within(secs(60), || {
        multi_thread(2).block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let uri = format!("http://{}/", listener.local_addr().unwrap());
            let serving = tokio::spawn(async move {
                let (socket, _) = listener.accept().await.unwrap();
                let server = http1::Builder::new();
                let service = service_fn(hello);
                server.serve_connection(TokioIo::new(socket), service).await
            });
            let client = Client::builder(TokioExecutor::new())
                .pool_timer(WheelTimer)
                .pool_idle_timeout(ms(100))
                .build_http::<Empty<Bytes>>();
            let answer = client.get(uri.parse().unwrap()).await.unwrap();
            answer.collect().await.unwrap();
            // The client is alive, and yet the server sees the connection end.
            serving.await.unwrap().unwrap();
            drop(client);
        });
    });
}

#[cfg(feature = "test-util")]
mod connections {

    use hyper::server::conn::http2;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
    use tokio::task::JoinHandle;

    use super::*;

    /// The limit for each head, for each PING, and between two of these.
    const LIMIT: Duration = Duration::from_secs(5);

    type Serving = JoinHandle<hyper::Result<()>>;

    fn http1_server() -> (DuplexStream, Serving) {
        let (client, server) = duplex(1024);
        let mut builder = http1::Builder::new();
        builder.timer(WheelTimer).header_read_timeout(LIMIT);
        let serving = builder.serve_connection(TokioIo::new(server), service_fn(hello));
        (client, tokio::spawn(serving))
    }

    fn http2_server() -> (DuplexStream, Serving) {
        let (client, server) = duplex(1024);
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder.timer(WheelTimer).keep_alive_interval(LIMIT);
        builder.keep_alive_timeout(LIMIT);
        let serving = builder.serve_connection(TokioIo::new(server), service_fn(hello));
        (client, tokio::spawn(serving))
    }

    /// After half a head, and nothing more, no answer to a PING either.
    #[tokio::test(start_paused = true)]
    async fn a_client_that_falls_silent_costs_its_connection_to_the_millisecond() {
        let half = b"GET / HTTP/1.1\r\nHost: here\r\nX-".to_vec();
        let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
        // And SETTINGS, empty.
        let preface = [&preface[..], &[0, 0, 0, 4, 0, 0, 0, 0, 0]].concat();
        for (server, said, expected) in [
            (http1_server(), half, LIMIT),
            (http2_server(), preface, 2 * LIMIT),
        ] {
            let (mut client, serving) = server;
            let start = Instant::now();
            client.write_all(&said).await.unwrap();
            client.read_to_end(&mut Vec::new()).await.unwrap();
            assert_eq!(start.elapsed(), expected);
            assert!(serving.await.unwrap().unwrap_err().is_timeout());
            assert_eq!(Wheel::current().pending(), 0);
        }
    }
}

#[cfg(feature = "test-util")]
mod timers {

    use hyper::rt::{Sleep, Timer};
    use hyper_util::rt::TokioTimer;
    use wheel::{Builder, advance};

    use super::*;

    /// Timers as hyper holds them: objects behind a pointer.
    fn timers() -> Vec<(&'static str, Box<dyn Timer>)> {
        let own = Builder::new().build().unwrap();
        vec![
            ("WheelTimer", Box::new(WheelTimer::new())),
            ("Wheel::current", Box::new(Wheel::current())),
            ("a driver of its own", Box::new(own)),
        ]
    }

    fn poll(sleep: &mut Pin<Box<dyn Sleep>>, waker: &Waker) -> Poll<()> {
        sleep.as_mut().poll(&mut Context::from_waker(waker))
    }

    #[tokio::test(start_paused = true)]
    async fn sleeps_are_exact() {
        for (name, timer) in timers() {
            let start = timer.now();
            timer.sleep(ms(30)).await;
            assert_eq!(timer.now() - start, ms(30), "{name}");
            timer.sleep_until(start + ms(70)).await;
            assert_eq!(timer.now() - start, ms(70), "{name}");
            timer.sleep_until(start).await;
            assert_eq!(timer.now() - start, ms(70), "{name}: it had passed");
            let mut sleep = timer.sleep(HOUR);
            timer.reset(&mut sleep, start + ms(75));
            sleep.await;
            assert_eq!(timer.now() - start, ms(75), "{name}: reset unpolled");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_reset_keeps_the_sleep_and_its_waker() {
        for (name, timer) in timers() {
            let (waker, count) = counting();
            let start = timer.now();
            let mut sleep = timer.sleep(ms(10));
            assert!(poll(&mut sleep, &waker).is_pending(), "{name}");
            let place = &raw const *sleep as *const ();
            timer.reset(&mut sleep, start + ms(30));
            let now = &raw const *sleep as *const ();
            assert_eq!(now, place, "{name}: was allocated anew");
            advance(ms(20)).await;
            assert_eq!(count.wakes(), 0, "{name}: woken by the old deadline");
            advance(ms(10)).await;
            assert_eq!(count.wakes(), 1, "{name}: not woken without another poll");
            assert!(poll(&mut sleep, &waker).is_ready(), "{name}");

            // To an earlier deadline, and after it had elapsed.
            timer.reset(&mut sleep, start + HOUR);
            assert!(poll(&mut sleep, &waker).is_pending(), "{name}");
            timer.reset(&mut sleep, start + ms(31));
            sleep.await;
            assert_eq!(timer.now() - start, ms(31), "{name}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_foreign_sleep_is_replaced() {
        for (name, timer) in timers() {
            let start = timer.now();
            let mut sleep = registered(TokioTimer::new().sleep(HOUR));
            timer.reset(&mut sleep, start + ms(5));
            let ours = sleep.as_mut().downcast_mut_pin::<wheel::Sleep>();
            assert!(ours.is_some(), "{name}");
            sleep.await;
            assert_eq!(timer.now() - start, ms(5), "{name}: the reset was ignored");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn far_deadlines_do_not_panic() {
        for (name, timer) in timers() {
            let mut sleep = timer.sleep(Duration::MAX);
            assert!(poll(&mut sleep, Waker::noop()).is_pending(), "{name}");
            let far = timer.now() + 365 * 24 * 1000 * HOUR;
            timer.reset(&mut sleep, far);
            assert!(poll(&mut sleep, Waker::noop()).is_pending(), "{name}");
        }
    }
}
