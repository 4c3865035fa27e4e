//! The server: axum, with tower-http's limit for each request.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::http::StatusCode;
use axum::{Router, routing::get};
use tower_http::timeout::TimeoutLayer;

/// One request in so many is answered late, as a database would answer.
const LATE: u64 = 7;

/// A server that runs until its runtime ends.
pub(crate) async fn start() -> io::Result<SocketAddr> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let limit = TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, Duration::from_secs(2));
    let app = Router::new().route("/", get(answer)).layer(limit);
    tokio::spawn(async move { axum::serve(listener, app).await });
    Ok(address)
}

async fn answer() -> &'static str {
    static REQUESTS: AtomicU64 = AtomicU64::new(0);
    if REQUESTS.fetch_add(1, Ordering::Relaxed) % LATE == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    "done"
}
