//! Each implementation's timers for hyper and for tower, and a server for an axum router with a timeout for the head of each
//! request.
//!
//! `axum::serve` is shorter and has no such timeout: a client that sends half a head, or nothing after an answer, keeps its
//! connection forever.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use axum::Router;
use axum::http::StatusCode;
use axum::serve::Listener;
use http_body_util::Empty;
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use timers::{Alt, Timers, Tokio, Wheel};
use tokio::net::{TcpListener, TcpStream};
use wheel::ext::hyper::WheelTimer;

use crate::Tally;

const TOO_LATE: StatusCode = StatusCode::GATEWAY_TIMEOUT;

/// Timers that hyper and tower can use.
pub(crate) trait Stack: Timers {
    /// The timer for hyper's servers and for the pool of its client.
    type Hyper: hyper::rt::Timer + Clone + Default + Send + Sync + 'static;

    /// Answers requests that take longer than `limit` with 504.
    fn limit(routes: Router, limit: Duration) -> Router;
}

macro_rules! stacks {
    ($($timers:ty: $hyper:ty, $layer:ty;)*) => {$(
        impl Stack for $timers {
            type Hyper = $hyper;

            fn limit(routes: Router, limit: Duration) -> Router {
                routes.layer(<$layer>::with_status_code(TOO_LATE, limit))
            }
        }
    )*};
}

stacks! {
    Tokio: hyper_util::rt::TokioTimer, tower_http::timeout::TimeoutLayer;
    Alt: hyper_util::rt::TokioTimer, tower_http::timeout::TimeoutLayer;
    Wheel: WheelTimer, wheel::ext::tower::TimeoutLayer<StatusCode>;
}

/// A client for HTTP/1, or for HTTP/2 only.
pub(crate) type Http = Client<HttpConnector, Empty<Bytes>>;

/// Creates a client whose pool closes a connection after it was idle for some time.
pub(crate) fn client<T: Stack>(is_http2: bool, idle: Duration) -> Http {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    Client::builder(TokioExecutor::new())
        .http2_only(is_http2)
        // A backend that stalls never names its limit.
        .http2_initial_max_send_streams(usize::MAX)
        .pool_timer(T::Hyper::default())
        .pool_idle_timeout(idle)
        .build(connector)
}

/// Listens on a free port until the runtime ends. Returns the address. A server has one version of HTTP, because no timeout
/// covers its detection.
pub(crate) fn start<T: Stack>(
    routes: Router,
    head_timeout: Duration,
    tally: Arc<Tally>,
    version: fn(Builder<TokioExecutor>) -> Builder<TokioExecutor>,
) -> Result<SocketAddr> {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
    listener.set_nonblocking(true)?;
    let mut listener = TcpListener::from_std(listener)?;
    let address = listener.local_addr()?;
    let mut server = version(Builder::new(TokioExecutor::new()));
    server.http2().max_concurrent_streams(None);
    let mut http1 = server.http1();
    http1.timer(T::Hyper::default());
    http1.header_read_timeout(head_timeout);
    tokio::spawn(async move {
        loop {
            // axum's `accept` continues after an error.
            let (socket, _) = Listener::accept(&mut listener).await;
            let (routes, tally) = (routes.clone(), Arc::clone(&tally));
            tokio::spawn(serve(socket, server.clone(), routes, tally));
        }
    });
    Ok(address)
}

async fn serve(
    socket: TcpStream,
    server: Builder<TokioExecutor>,
    routes: Router,
    tally: Arc<Tally>,
) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let routes = TowerToHyperService::new(routes);
    let mut connection = pin!(server.serve_connection(TokioIo::new(socket), routes));
    // The other end reports any other error. It sees the end of the connection when this function returns, after the
    // count.
    if let Err(error) = connection.as_mut().await {
        let is_timeout = error.downcast_ref().is_some_and(hyper::Error::is_timeout);
        tally.timed_out.add(u64::from(is_timeout));
    }
    Ok(())
}
