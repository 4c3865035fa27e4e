//! The gateway's way to its backends: pooled connections, and a timeout around every call.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use axum::http::Uri;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::time::Instant;

use crate::plan::{Fate, Plan};
use crate::stack::Stack;
use crate::tally::Tally;

/// Shorter than a backend waits for a head, so that a call seldom meets a connection that ends.
const POOL_IDLE: Duration = Duration::from_secs(15);

#[derive(Clone, Debug)]
pub(crate) struct Upstream {
    client: Client<HttpConnector, Empty<Bytes>>,
    pub(crate) backends: Arc<[SocketAddr]>,
}

impl Upstream {
    pub(crate) fn new<T: Stack>(backends: Arc<[SocketAddr]>) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(T::Hyper::default())
            .pool_idle_timeout(POOL_IDLE)
            .build(connector);
        Upstream { client, backends }
    }

    /// Whether the backend has answered in time.
    pub(crate) async fn call<T: Stack>(
        &self,
        backend: SocketAddr,
        number: u64,
        plan: &Plan,
        tally: &Tally,
    ) -> Result<bool> {
        tally.calls.add(1);
        let started = Instant::now();
        if let Ok(answered) = T::timeout(plan.call_timeout, self.fetch(backend, number)).await {
            return answered.map(|()| true);
        }
        let is_never = plan.fate(number) == Fate::Never;
        tally.call_fired.add(1);
        tally.never_fired.add(u64::from(is_never));
        let is_early = started.elapsed() < plan.call_timeout;
        tally.early.add(u64::from(is_early));
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
