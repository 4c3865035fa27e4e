//! The server: axum, with tower-http's limit for each request.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Result;
use axum::extract::State;
use axum::http::StatusCode;
use axum::{Router, routing::get};
use tower_http::timeout::TimeoutLayer;

/// The server refuses one request in so many, and the client tries again.
const REFUSED: u64 = 50;
/// It answers one in so many late, as a database would.
const LATE: u64 = 7;

/// A server that runs until its runtime ends.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    requests: AtomicU64,
    refused: AtomicU64,
}

impl Server {
    pub(crate) fn refused(&self) -> u64 {
        self.seen.refused.load(Ordering::Relaxed)
    }
}

pub(crate) async fn start() -> Result<Server> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let seen = Arc::new(Seen::default());
    let limit = TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, Duration::from_secs(2));
    let app = Router::new()
        .route("/", get(answer))
        .layer(limit)
        .with_state(seen.clone());
    tokio::spawn(async move { axum::serve(listener, app).await });
    Ok(Server { address, seen })
}

async fn answer(State(seen): State<Arc<Seen>>) -> Result<&'static str, StatusCode> {
    let number = seen.requests.fetch_add(1, Ordering::Relaxed);
    if number % REFUSED == 0 {
        seen.refused.fetch_add(1, Ordering::Relaxed);
        return Err(StatusCode::SERVICE_UNAVAILABLE);
    }
    if number % LATE == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    Ok("done")
}
