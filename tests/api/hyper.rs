//! hyper's connections time out with `WheelTimer`, and the `Timer` itself is exact.
#![cfg(all(feature = "hyper", feature = "test-util"))]

use support::prelude::*;

use std::convert::Infallible;

use hyper::body::Incoming;
use hyper::rt::Timer;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio_test::{assert_pending, assert_ready, task};
use wheel::advance;
use wheel::ext::hyper::WheelTimer;

async fn hello(_request: Request<Incoming>) -> Result<Response<String>, Infallible> {
    Ok(Response::new("hello".to_owned()))
}

/// The timeout for a request's head and for the answer to a PING, and the interval between PINGs.
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

/// The client sends half of a head, or opens a connection without answering a PING, and then sends nothing more.
#[tokio::test(start_paused = true)]
async fn a_client_that_falls_silent_costs_its_connection_to_the_millisecond() {
    let half = b"GET / HTTP/1.1\r\nHost: here\r\nX-".to_vec();
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    // The preface ends with empty SETTINGS.
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
        assert_eq!(wheel::metrics().snapshot().pending, 0);
    }
}

/// Returns timers as hyper holds them: objects behind a pointer.
fn timers() -> Vec<(&'static str, Box<dyn Timer>)> {
    vec![
        ("WheelTimer", Box::new(WheelTimer::new())),
        ("Handle", Box::new(Timers::current())),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_reset_keeps_the_sleep_and_its_waker() {
    for (name, timer) in timers() {
        let (waker, count) = new_count_waker();
        let start = timer.now();
        let mut sleep = timer.sleep(ms(10));
        assert_pending!(poll(&mut sleep, &waker), "{name}");
        let place = &raw const *sleep as *const ();
        timer.reset(&mut sleep, start + ms(30));
        let now = &raw const *sleep as *const ();
        assert_eq!(now, place, "{name}: was allocated again");
        advance(ms(20)).await;
        assert_eq!(count, 0, "{name}: woken by the old deadline");
        advance(ms(10)).await;
        assert_eq!(count, 1, "{name}: not woken without another poll");
        assert_ready!(poll(&mut sleep, &waker), "{name}");

        // Reset after the sleep has elapsed, and then to an earlier deadline.
        timer.reset(&mut sleep, start + HOUR);
        assert_pending!(poll(&mut sleep, &waker), "{name}");
        timer.reset(&mut sleep, start + ms(31));
        sleep.await;
        assert_eq!(timer.now() - start, ms(31), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_foreign_sleep_is_replaced() {
    for (name, timer) in timers() {
        let start = timer.now();
        let mut sleep = task::spawn(TokioTimer::new().sleep(HOUR));
        assert_pending!(sleep.poll(), "{name}");
        timer.reset(&mut sleep, start + ms(5));
        let ours = sleep.as_mut().downcast_mut_pin::<wheel::Sleep>();
        assert!(ours.is_some(), "{name}");
        sleep.await;
        assert_eq!(timer.now() - start, ms(5), "{name}: the reset was ignored");
    }
}
