//! The client: reqwest with its pool, under tower's retries with backoff and its limit for each
//! attempt.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Result, anyhow, ensure};
use reqwest::{Method, Request, Response, StatusCode, Url};
use tower::retry::backoff::{Backoff, ExponentialBackoff, ExponentialBackoffMaker, MakeBackoff};
use tower::retry::{Policy, Retry};
use tower::timeout::Timeout;
use tower::util::rng::HasherRng;
use tower::{BoxError, Service, ServiceBuilder, ServiceExt};

/// A request is tried so often.
const ATTEMPTS: u32 = 10;

#[derive(Clone)]
pub(crate) struct Client {
    service: Retry<Again, Timeout<reqwest::Client>>,
    url: Url,
    retries: Arc<AtomicU64>,
}

pub(crate) fn new(server: SocketAddr, connections: usize) -> Result<Client> {
    let pool = reqwest::Client::builder()
        .connect_timeout(Duration::from_secs(2))
        .timeout(Duration::from_secs(10))
        .read_timeout(Duration::from_secs(5))
        .pool_idle_timeout(Duration::from_secs(30))
        .pool_max_idle_per_host(connections)
        .build()?;
    let backoff = ExponentialBackoffMaker::new(
        Duration::from_millis(2),
        Duration::from_millis(50),
        0.5,
        HasherRng::new(),
    )?
    .make_backoff();
    let retries = Arc::new(AtomicU64::new(0));
    let again = Again {
        backoff,
        left: ATTEMPTS - 1,
        retries: retries.clone(),
    };
    let service = ServiceBuilder::new()
        .retry(again)
        .timeout(Duration::from_secs(1))
        .service(pool);
    let url = format!("http://{server}/").parse()?;
    Ok(Client {
        service,
        url,
        retries,
    })
}

impl Client {
    /// One request, with as many attempts as it takes.
    pub(crate) async fn get(&mut self) -> Result<()> {
        let request = Request::new(Method::GET, self.url.clone());
        let service = self.service.ready().await.map_err(|error| anyhow!(error))?;
        let response = service
            .call(request)
            .await
            .map_err(|error| anyhow!(error))?;
        ensure!(
            response.status() == StatusCode::OK,
            "answered {}",
            response.status()
        );
        ensure!(response.bytes().await? == "done", "another answer");
        Ok(())
    }

    pub(crate) fn retries(&self) -> u64 {
        self.retries.load(Ordering::Relaxed)
    }
}

/// Tries again what the server has refused, after tower's backoff.
#[derive(Clone)]
struct Again {
    backoff: ExponentialBackoff,
    left: u32,
    retries: Arc<AtomicU64>,
}

impl Policy<Request, Response, BoxError> for Again {
    type Future = <ExponentialBackoff as Backoff>::Future;

    fn retry(
        &mut self,
        _: &mut Request,
        result: &mut Result<Response, BoxError>,
    ) -> Option<Self::Future> {
        let refused =
            matches!(result, Ok(response) if response.status() == StatusCode::SERVICE_UNAVAILABLE);
        if !refused || self.left == 0 {
            return None;
        }
        self.left -= 1;
        self.retries.fetch_add(1, Ordering::Relaxed);
        Some(self.backoff.next_backoff())
    }

    fn clone_request(&mut self, request: &Request) -> Option<Request> {
        request.try_clone()
    }
}
