//! For every request, the gateway calls all backends, over pooled connections and each under a timeout, and answers how
//! many were in time. The backends answer a call immediately, after a while or never, as its number demands.

use std::future::pending;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use axum::Router;
use axum::extract::Path;
use axum::http::{StatusCode, Uri};
use axum::routing::get;
use futures::stream::{FuturesUnordered, TryStreamExt};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::time::Instant;

use crate::server::Stack;
use crate::{
    BACKENDS, CALL_TIMEOUT, CALLS_PER_NEVER, CALLS_PER_SLOW, REQUEST_TIMEOUT, SLOW, Tally,
};

/// Shorter than a backend waits for a head, so that a call rarely meets a connection that is being closed.
const POOL_IDLE: Duration = Duration::from_secs(15);

struct Gateway {
    client: Client<HttpConnector, Empty<Bytes>>,
    backends: Vec<SocketAddr>,
    tally: Arc<Tally>,
}

/// Returns the routes of the gateway.
pub(crate) fn routes<T: Stack>(backends: Vec<SocketAddr>, tally: Arc<Tally>) -> Router {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client = Client::builder(TokioExecutor::new())
        .pool_timer(T::Hyper::default())
        .pool_idle_timeout(POOL_IDLE)
        .build(connector);
    let gateway = Arc::new(Gateway {
        client,
        backends,
        tally,
    });
    let answer = async move || {
        let answered = gateway.fan_out::<T>().await;
        let failed = |error| (StatusCode::BAD_GATEWAY, format!("{error:#}"));
        answered.map(|count| count.to_string()).map_err(failed)
    };
    let routes = Router::new().route("/", get(answer));
    T::limit(routes, REQUEST_TIMEOUT)
}

impl Gateway {
    /// Returns how many backends have answered.
    async fn fan_out<T: Stack>(&self) -> Result<u64> {
        let request = self.tally.requests.add(1);
        let calls: FuturesUnordered<_> = (request * BACKENDS..)
            .zip(&self.backends)
            .map(|(number, &backend)| self.call::<T>(backend, number))
            .collect();
        let count = async |sum, in_time| Ok(sum + u64::from(in_time));
        let answered = calls.try_fold(0, count).await?;
        self.tally.answered.add(answered);
        Ok(answered)
    }

    /// Returns whether the backend has answered in time.
    async fn call<T: Stack>(&self, backend: SocketAddr, number: u64) -> Result<bool> {
        self.tally.calls.add(1);
        let started = Instant::now();
        if let Ok(answered) = T::timeout(CALL_TIMEOUT, self.fetch(backend, number)).await {
            return answered.map(|()| true);
        }
        self.tally.call_fired.add(1);
        let is_early = started.elapsed() < CALL_TIMEOUT;
        self.tally.early.add(u64::from(is_early));
        Ok(false)
    }

    /// Calls a backend. This has no timeout of its own; the caller adds one.
    async fn fetch(&self, backend: SocketAddr, number: u64) -> Result<()> {
        let uri: Uri = format!("http://{backend}/calls/{number}").parse()?;
        let answer = self.client.get(uri).await.context("a call has failed")?;
        ensure!(
            answer.status() == 200,
            "a backend answered {}",
            answer.status()
        );
        // The connection returns to the pool when the body has been read.
        answer.collect().await.context("an answer broke off")?;
        Ok(())
    }
}

/// Returns the routes of a backend. It answers most calls immediately, so their timers are cancelled within a millisecond.
pub(crate) fn calls<T: Stack>() -> Router {
    let answer = async |Path(call): Path<u64>| {
        if (call + 1) % CALLS_PER_NEVER == 0 {
            pending::<()>().await;
        }
        if call % CALLS_PER_SLOW == 0 {
            T::sleep(SLOW).await;
        }
        "the answer"
    };
    Router::new().route("/calls/{number}", get(answer))
}
