//! For every request, the gateway calls all backends, over pooled connections and each under a timeout, and answers how
//! many were in time, and how long the slowest of these took.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use axum::Router;
use axum::extract::Path;
use axum::http::{StatusCode, Uri};
use axum::routing::get;
use futures::stream::{FuturesUnordered, TryStreamExt};
use http_body_util::BodyExt as _;
use timers::Work;
use tokio::time::Instant;

use crate::server::{Http, Stack, client};
use crate::{BACKENDS, CALL_TIMEOUT, REQUEST_TIMEOUT, Tally};

/// Shorter than a backend waits for a head, so that a call rarely meets a connection that is being closed.
const POOL_IDLE: Duration = Duration::from_secs(15);

struct Gateway {
    client: Http,
    backends: Vec<u16>,
    /// A backend that never answers, and the client that calls it.
    stalled: (Http, u16),
    tally: Arc<Tally>,
}

/// Returns the routes of the gateway, whose backends listen on these ports. The last one never answers.
pub(crate) fn routes<T: Stack>(mut backends: Vec<u16>, tally: Arc<Tally>) -> Router {
    let [client, http2] = [false, true].map(|is_http2| client::<T>(is_http2, POOL_IDLE));
    let gateway = Arc::new(Gateway {
        client,
        stalled: (http2, backends.pop().expect("ports")),
        backends,
        tally,
    });
    let failed = |error| (StatusCode::BAD_GATEWAY, format!("{error:#}"));
    let same = Arc::clone(&gateway);
    let stall = async move |Path((number, deadline)): Path<(u64, u64)>| {
        let stalled = same.stall::<T>(number, deadline).await;
        stalled.map_err(failed)
    };
    let answer = async move |Path(request): Path<u64>| {
        let answered = gateway.fan_out::<T>(request).await;
        answered.map_err(failed)
    };
    let routes = Router::new().route("/requests/{number}", get(answer));
    T::limit(routes, REQUEST_TIMEOUT)
        .route("/stalled/{number}/{deadline}", get(stall))
        .route("/health", get(StatusCode::NO_CONTENT))
}

impl Gateway {
    /// Returns how many backends have answered, and the nanoseconds that the slowest took.
    async fn fan_out<T: Stack>(&self, request: u64) -> Result<String> {
        self.tally.requests.add(1);
        let calls: FuturesUnordered<_> = (request * BACKENDS..)
            .zip(&self.backends)
            .map(|(number, &backend)| fetch(&self.client, backend, number))
            .map(|fetch| self.call::<T>(CALL_TIMEOUT, fetch))
            .collect();
        let count = async |(sum, slowest): (u64, u64), took: Option<u64>| {
            let slowest = slowest.max(took.unwrap_or(0));
            Ok((sum + u64::from(took.is_some()), slowest))
        };
        let (answered, slowest) = calls.try_fold((0, 0), count).await?;
        self.tally.answered.add(answered);
        Ok(format!("{answered} {slowest}"))
    }

    /// Calls the backend that never answers, until a deadline in microseconds of Unix time. Returns the answer then.
    async fn stall<T: Stack>(&self, number: u64, deadline: u64) -> Result<(StatusCode, String)> {
        let deadline = UNIX_EPOCH + Duration::from_micros(deadline);
        let limit = deadline.duration_since(SystemTime::now());
        let limit = limit.unwrap_or_default();
        self.tally.stalled.add(u64::from(limit > Duration::ZERO));
        let (client, port) = &self.stalled;
        let call = self.call::<T>(limit, fetch(client, *port, number));
        ensure!(call.await?.is_none(), "the backend has answered");
        let error = format!("backend {port} did not answer call {number} within {limit:?}");
        Ok((StatusCode::GATEWAY_TIMEOUT, error))
    }

    /// Returns the nanoseconds that the backend took, or `None` if it has not answered in time.
    async fn call<T: Stack>(
        &self,
        limit: Duration,
        fetch: impl Work<Output = Result<u64>>,
    ) -> Result<Option<u64>> {
        let started = Instant::now();
        if let Ok(answered) = T::timeout(limit, fetch).await {
            return answered.map(Some);
        }
        self.tally.call_fired.add(1);
        let is_early = started.elapsed() < limit;
        self.tally.early.add(u64::from(is_early));
        Ok(None)
    }
}

/// Calls a backend. This has no timeout of its own; the caller adds one.
async fn fetch(client: &Http, backend: u16, number: u64) -> Result<u64> {
    let uri: Uri = format!("http://127.0.0.1:{backend}/calls/{number}").parse()?;
    let answer = client.get(uri).await.context("a call has failed")?;
    let status = answer.status();
    ensure!(status == 200, "a backend answered {status}");
    // The connection returns to the pool when the body has been read.
    let body = answer.collect().await.context("an answer broke off")?;
    Ok(std::str::from_utf8(&body.to_bytes())?.parse()?)
}
