//! hyper on `WheelTimer`: servers and clients over loopback in real time, and the
//! `Timer` itself under a paused clock.
#![cfg(feature = "hyper")]

use std::convert::Infallible;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use http_body_util::Empty;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use support::{ms, multi_thread, runtimes, secs, within};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use wheel::ext::hyper::WheelTimer;

/// Long enough to tell that a timer waited, short enough for a test.
const LIMIT: Duration = Duration::from_millis(100);

/// hyper's own limit for heads is 30 s: whoever closes before did not wait for that.
const SOON: Duration = Duration::from_secs(20);

/// How each connection ended.
type Ends = mpsc::UnboundedReceiver<hyper::Result<()>>;

async fn hello(_request: Request<Incoming>) -> Result<Response<String>, Infallible> {
    Ok(Response::new("hello".to_owned()))
}

/// Serves what `$server` makes of each connection; evaluates to its address and `Ends`.
/// A macro, since the two versions' builders share no trait.
macro_rules! serve {
    ($runtime:expr, $server:expr) => {{
        let listener = $runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let (ended, ends) = mpsc::unbounded_channel();
        let server = $server;
        $runtime.spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let connection = server.serve_connection(TokioIo::new(socket), service_fn(hello));
                let ended = ended.clone();
                tokio::spawn(async move { ended.send(connection.await) });
            }
        });
        (address, ends)
    }};
}

fn http1_server(runtime: &Runtime, limit: Duration) -> (SocketAddr, Ends) {
    let mut server = http1::Builder::new();
    server.timer(WheelTimer).header_read_timeout(limit);
    serve!(runtime, server)
}

fn http2_server(runtime: &Runtime, limit: Duration) -> (SocketAddr, Ends) {
    let mut server = http2::Builder::new(TokioExecutor::new());
    let every = server
        .timer(WheelTimer)
        .keep_alive_interval(limit.min(LIMIT));
    every.keep_alive_timeout(limit);
    serve!(runtime, server)
}

fn connect(address: SocketAddr) -> TcpStream {
    let socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(SOON)).unwrap();
    socket
}

/// Runs `test` against a server on every kind of runtime, current-thread ones included: the
/// runtime's thread is not the test's.
fn against_each<R: Send + 'static>(start: fn(&Runtime) -> R, test: fn(&'static str, R)) {
    within(secs(120), move || {
        for (name, runtime) in runtimes() {
            let server = start(&runtime);
            let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
            let turning = std::thread::spawn(move || {
                let _ = runtime.block_on(stopped);
            });
            test(name, server);
            drop(stop);
            turning.join().unwrap();
        }
    });
}

#[test]
fn a_head_that_never_ends_costs_its_connection() {
    against_each(
        |runtime| http1_server(runtime, LIMIT),
        |runtime, (address, mut ends)| {
            let began = Instant::now();
            let mut slow: Vec<_> = (0..50).map(|_| connect(address)).collect();
            for socket in &mut slow {
                socket
                    .write_all(b"GET / HTTP/1.1\r\nHost: here\r\nX-")
                    .unwrap();
            }
            for socket in &mut slow {
                let mut answer = Vec::new();
                socket.read_to_end(&mut answer).unwrap();
                assert!(began.elapsed() >= LIMIT, "{runtime}: closed early");
                let error = ends.blocking_recv().unwrap().unwrap_err();
                assert!(error.is_timeout(), "{runtime}: {error:?}");
            }
        },
    );
}

#[test]
fn a_slow_head_that_comes_in_time_is_answered() {
    against_each(
        |runtime| http1_server(runtime, SOON),
        |runtime, (address, _ends)| {
            let mut socket = connect(address);
            let mut answer = [0; 512];
            for _ in 0..3 {
                socket.write_all(b"GET / HTTP/1.1\r\n").unwrap();
                std::thread::sleep(ms(20));
                socket.write_all(b"Host: here\r\n\r\n").unwrap();
                let length = socket.read(&mut answer).unwrap();
                assert!(answer[..length].starts_with(b"HTTP/1.1 200"), "{runtime}");
            }
        },
    );
}

#[test]
fn a_dead_http2_peer_is_closed() {
    against_each(
        |runtime| http2_server(runtime, LIMIT),
        |runtime, (address, mut ends)| {
            let began = Instant::now();
            let mut dead = connect(address);
            dead.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
            // SETTINGS, empty. From here on it reads and says nothing, no answer to a PING either.
            dead.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).unwrap();
            let mut heard = Vec::new();
            dead.read_to_end(&mut heard).unwrap();
            assert!(began.elapsed() >= 2 * LIMIT, "{runtime}: closed early");
            let error = ends.blocking_recv().unwrap().unwrap_err();
            assert!(error.is_timeout(), "{runtime}: {error:?}");
        },
    );
}

/// The keep-alive timers are reset from one interval to the next, on both sides.
#[test]
fn a_living_http2_peer_is_kept() {
    within(secs(60), || {
        let runtime = multi_thread(2);
        // A generous limit on both sides: a machine that stands still is no dead peer.
        let (address, mut ends) = http2_server(&runtime, SOON);
        runtime.block_on(async {
            let socket = tokio::net::TcpStream::connect(address).await.unwrap();
            let mut client = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
            client
                .timer(WheelTimer)
                .keep_alive_interval(ms(20))
                .keep_alive_timeout(SOON);
            client.keep_alive_while_idle(true);
            let (mut requests, connection) = client
                .handshake::<_, Empty<Bytes>>(TokioIo::new(socket))
                .await
                .unwrap();
            let connection = tokio::spawn(connection);
            for _ in 0..3 {
                wheel::sleep(LIMIT).await;
                if connection.is_finished() {
                    break;
                }
                let request = Request::get("http://here/").body(Empty::new()).unwrap();
                requests.send_request(request).await.unwrap();
            }
            assert!(!connection.is_finished());
            assert!(ends.try_recv().is_err(), "closed under a living client");
        });
    });
}

#[test]
fn an_http2_client_notices_a_dead_server() {
    within(secs(60), || {
        multi_thread(2).block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let socket = tokio::net::TcpStream::connect(address).await.unwrap();
            let (_never_answers, _) = listener.accept().await.unwrap();
            let mut client = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
            client
                .timer(WheelTimer)
                .keep_alive_interval(LIMIT)
                .keep_alive_timeout(LIMIT);
            client.keep_alive_while_idle(true);
            let began = Instant::now();
            let (_requests, connection) = client
                .handshake::<_, Empty<Bytes>>(TokioIo::new(socket))
                .await
                .unwrap();
            // With an error or without: that depends on which of its tasks is first to know.
            let _ = connection.await;
            assert!(began.elapsed() >= 2 * LIMIT, "gave up early");
        });
    });
}

#[test]
fn a_pool_gives_idle_connections_up() {
    within(secs(60), || {
        let runtime = multi_thread(2);
        let (address, mut ends) = serve!(runtime, http1::Builder::new());
        runtime.block_on(async {
            let client = Client::builder(TokioExecutor::new())
                .pool_timer(WheelTimer)
                .pool_idle_timeout(LIMIT)
                .build_http::<Empty<Bytes>>();
            let uri = format!("http://{address}/").parse::<hyper::Uri>().unwrap();
            let answer = client.get(uri).await.unwrap();
            http_body_util::BodyExt::collect(answer).await.unwrap();
            // The client is alive, and yet the server sees the connection end.
            ends.recv().await.unwrap().unwrap();
            drop(client);
        });
    });
}

#[cfg(feature = "test-util")]
mod paused {
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};
    use std::time::Instant;

    use hyper::rt::{Sleep, Timer};
    use hyper::server::conn::http1;
    use hyper::service::service_fn;
    use hyper_util::rt::{TokioIo, TokioTimer};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use wheel::{Builder, Wheel, advance, ext::hyper::WheelTimer};

    use support::{HOUR, counting, ms, secs};

    /// What hyper sees of a timer: an object behind a pointer.
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

    fn is_ours(sleep: &mut Pin<Box<dyn Sleep>>) -> bool {
        sleep.as_mut().downcast_mut_pin::<wheel::Sleep>().is_some()
    }

    #[tokio::test(start_paused = true)]
    async fn now_is_the_clock_that_is_paused() {
        for (name, timer) in timers() {
            let before = timer.now();
            assert_eq!(timer.now(), before, "{name}");
            advance(HOUR).await;
            assert_eq!(timer.now() - before, HOUR, "{name}");
            assert!(
                timer.now() - Instant::now() > HOUR / 2,
                "{name}: not std's clock"
            );
        }
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
            assert_eq!(
                &raw const *sleep as *const (), place,
                "{name}: was allocated anew"
            );
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
    async fn a_reset_before_the_first_poll_counts() {
        for (name, timer) in timers() {
            let start = timer.now();
            let mut sleep = timer.sleep(HOUR);
            timer.reset(&mut sleep, start + ms(5));
            sleep.await;
            assert_eq!(timer.now() - start, ms(5), "{name}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_foreign_sleep_is_replaced() {
        for (name, timer) in timers() {
            let start = timer.now();
            let mut sleep = TokioTimer::new().sleep(HOUR);
            assert!(poll(&mut sleep, Waker::noop()).is_pending());
            assert!(!is_ours(&mut sleep));
            timer.reset(&mut sleep, start + ms(5));
            assert!(is_ours(&mut sleep), "{name}");
            sleep.await;
            assert_eq!(timer.now() - start, ms(5), "{name}: the reset was ignored");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn far_deadlines_do_not_panic() {
        for (name, timer) in timers() {
            let mut sleep = timer.sleep(std::time::Duration::MAX);
            assert!(poll(&mut sleep, Waker::noop()).is_pending(), "{name}");
            let far = timer.now() + 365 * 24 * 1000 * HOUR;
            timer.reset(&mut sleep, far);
            assert!(poll(&mut sleep, Waker::noop()).is_pending(), "{name}");
        }
    }

    /// One connection, with five seconds for each head.
    async fn serve(socket: tokio::io::DuplexStream) -> hyper::Result<()> {
        http1::Builder::new()
            .timer(WheelTimer)
            .header_read_timeout(secs(5))
            .serve_connection(TokioIo::new(socket), service_fn(super::hello))
            .await
    }

    /// An idle connection waits for its next head no longer than for its first.
    #[tokio::test(start_paused = true)]
    async fn each_head_has_its_own_time() {
        let (mut client, server) = tokio::io::duplex(1024);
        let serving = tokio::spawn(serve(server));
        let start = wheel::Instant::now();
        for request in 1..=3 {
            wheel::sleep(secs(4)).await;
            client
                .write_all(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
                .await
                .unwrap();
            let mut answer = [0; 512];
            let length = client.read(&mut answer).await.unwrap();
            assert!(
                answer[..length].starts_with(b"HTTP/1.1 200"),
                "request {request}"
            );
        }
        assert_eq!(client.read(&mut [0; 1]).await.unwrap(), 0);
        assert_eq!(start.elapsed(), secs(3 * 4 + 5));
        assert!(serving.await.unwrap().unwrap_err().is_timeout());
    }

    /// The whole of it in virtual time: closed on the millisecond, after half a head.
    #[tokio::test(start_paused = true)]
    async fn the_header_timeout_follows_the_paused_clock() {
        let (mut client, server) = tokio::io::duplex(1024);
        let serving = tokio::spawn(serve(server));
        let start = wheel::Instant::now();
        client.write_all(b"GET / HTTP/1.1\r\nHost").await.unwrap();
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).await.unwrap();
        assert_eq!(start.elapsed(), secs(5));
        assert!(serving.await.unwrap().unwrap_err().is_timeout());
        assert_eq!(Wheel::current().pending(), 0);
    }
}

/// What hyper's and hyper-util's builders, and users' own structs, ask for.
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
