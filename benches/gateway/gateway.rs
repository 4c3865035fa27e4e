//! For every request, the gateway calls all backends, over pooled connections and each under a timeout, and answers how
//! many were in time, and how long the slowest of these took.

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
use crate::{BACKENDS, CALL_TIMEOUT, REQUEST_TIMEOUT, Tally};

/// Shorter than a backend waits for a head, so that a call rarely meets a connection that is being closed.
const POOL_IDLE: Duration = Duration::from_secs(15);

struct Gateway {
    client: Client<HttpConnector, Empty<Bytes>>,
    backends: Vec<u16>,
    tally: Arc<Tally>,
}

/// Returns the routes of the gateway, whose backends listen on these ports.
pub(crate) fn routes<T: Stack>(backends: Vec<u16>, tally: Arc<Tally>) -> Router {
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
    let answer = async move |Path(request): Path<u64>| {
        let answered = gateway.fan_out::<T>(request).await;
        let failed = |error| (StatusCode::BAD_GATEWAY, format!("{error:#}"));
        answered.map_err(failed)
    };
    let routes = Router::new().route("/requests/{number}", get(answer));
    T::limit(routes, REQUEST_TIMEOUT)
}

impl Gateway {
    /// Returns how many backends have answered, and the nanoseconds that the slowest took.
    async fn fan_out<T: Stack>(&self, request: u64) -> Result<String> {
        self.tally.requests.add(1);
        let calls: FuturesUnordered<_> = (request * BACKENDS..)
            .zip(&self.backends)
            .map(|(number, &backend)| self.call::<T>(backend, number))
            .collect();
        let count = async |(sum, slowest): (u64, u64), took: Option<u64>| {
            let slowest = slowest.max(took.unwrap_or(0));
            Ok((sum + u64::from(took.is_some()), slowest))
        };
        let (answered, slowest) = calls.try_fold((0, 0), count).await?;
        self.tally.answered.add(answered);
        Ok(format!("{answered} {slowest}"))
    }

    /// Returns the nanoseconds that the backend took, or `None` if it has not answered in time.
    async fn call<T: Stack>(&self, backend: u16, number: u64) -> Result<Option<u64>> {
        let started = Instant::now();
        if let Ok(answered) = T::timeout(CALL_TIMEOUT, self.fetch(backend, number)).await {
            return answered.map(Some);
        }
        self.tally.call_fired.add(1);
        let is_early = started.elapsed() < CALL_TIMEOUT;
        self.tally.early.add(u64::from(is_early));
        Ok(None)
    }

    /// Calls a backend. This has no timeout of its own; the caller adds one.
    async fn fetch(&self, backend: u16, number: u64) -> Result<u64> {
        let uri: Uri = format!("http://127.0.0.1:{backend}/calls/{number}").parse()?;
        let answer = self.client.get(uri).await.context("a call has failed")?;
        let status = answer.status();
        ensure!(status == 200, "a backend answered {status}");
        // The connection returns to the pool when the body has been read.
        let body = answer.collect().await.context("an answer broke off")?;
        Ok(std::str::from_utf8(&body.to_bytes())?.parse()?)
    }
}
