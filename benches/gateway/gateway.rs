//! The gateway: asks all backends for every request, over pooled connections and each under a timeout, and answers with
//! what came in time. And the backends: they answer a call at once, after a while or never, as the plan has it.

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

use crate::plan::{BACKENDS, Plan, before_answer};
use crate::server::Stack;

/// Shorter than a backend waits for a head, so that a call seldom meets a connection that ends.
const POOL_IDLE: Duration = Duration::from_secs(15);

struct Gateway {
    client: Client<HttpConnector, Empty<Bytes>>,
    backends: Vec<SocketAddr>,
    plan: Plan,
}

/// Of the gateway.
pub(crate) fn routes<T: Stack>(backends: Vec<SocketAddr>, plan: Plan) -> Router {
    let limit = plan.request_timeout();
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client = Client::builder(TokioExecutor::new())
        .pool_timer(T::Hyper::default())
        .pool_idle_timeout(POOL_IDLE)
        .build(connector);
    let gateway = Arc::new(Gateway {
        client,
        backends,
        plan,
    });
    let answer = async move || {
        let answered = gateway.fan_out::<T>().await;
        let failed = |error| (StatusCode::BAD_GATEWAY, format!("{error:#}"));
        answered.map(|count| count.to_string()).map_err(failed)
    };
    let routes = Router::new().route("/", get(answer));
    T::limit(routes, limit)
}

impl Gateway {
    /// How many backends have answered.
    async fn fan_out<T: Stack>(&self) -> Result<u64> {
        let request = self.plan.tally.requests.add(1);
        let calls: FuturesUnordered<_> = (request * BACKENDS..)
            .zip(&self.backends)
            .map(|(number, &backend)| self.call::<T>(backend, number))
            .collect();
        let count = async |sum, in_time| Ok(sum + u64::from(in_time));
        let answered = calls.try_fold(0, count).await?;
        self.plan.tally.answered.add(answered);
        Ok(answered)
    }

    /// Whether the backend has answered in time.
    async fn call<T: Stack>(&self, backend: SocketAddr, number: u64) -> Result<bool> {
        self.plan.tally.calls.add(1);
        let (started, limit) = (Instant::now(), self.plan.load.limit);
        if let Ok(answered) = T::timeout(limit, self.fetch(backend, number)).await {
            return answered.map(|()| true);
        }
        self.plan.tally.call_fired.add(1);
        let is_early = started.elapsed() < limit;
        self.plan.tally.early.add(u64::from(is_early));
        Ok(false)
    }

    /// Takes as long as it takes: limits are the caller's.
    async fn fetch(&self, backend: SocketAddr, number: u64) -> Result<()> {
        let uri: Uri = format!("http://{backend}/calls/{number}").parse()?;
        let answer = self.client.get(uri).await.context("a call has failed")?;
        ensure!(answer.status() == 200, "a backend says {}", answer.status());
        // The connection goes back to the pool when the body has been read.
        answer.collect().await.context("an answer broke off")?;
        Ok(())
    }
}

/// Of every backend.
pub(crate) fn calls<T: Stack>(is_calm: bool) -> Router {
    let answer = async move |Path(call)| {
        if !is_calm {
            before_answer::<T>(call).await;
        }
        "here you are"
    };
    Router::new().route("/calls/{number}", get(answer))
}
