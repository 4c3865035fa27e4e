//! The load: so many requests under way at a time, each as soon as the last is answered. The client is
//! reqwest with its pool and its limits, under tower's limit for each request.

use std::net::SocketAddr;
use std::time::Duration;

use hdrhistogram::Histogram;
use reqwest::{Method, Request, Url};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tower::timeout::Timeout;
use tower::{BoxError, Service, ServiceExt};

/// Requests under way at a time.
const CONNECTIONS: usize = 64;

#[derive(Clone)]
pub(crate) struct Client {
    service: Timeout<reqwest::Client>,
    url: Url,
}

pub(crate) fn client(server: SocketAddr) -> Result<Client, BoxError> {
    let pool = reqwest::Client::builder()
        .connect_timeout(Duration::from_secs(2))
        .timeout(Duration::from_secs(10))
        .read_timeout(Duration::from_secs(5))
        .pool_idle_timeout(Duration::from_secs(30))
        .pool_max_idle_per_host(CONNECTIONS)
        .build()?;
    let service = Timeout::new(pool, Duration::from_secs(5));
    let url = format!("http://{server}/").parse()?;
    Ok(Client { service, url })
}

/// Microseconds from each request to its answer.
pub(crate) async fn run(client: &Client, time: Duration) -> Result<Histogram<u64>, BoxError> {
    let end = Instant::now() + time;
    let clients = (0..CONNECTIONS).map(|_| one(client.clone(), end));
    let mut clients: JoinSet<_> = clients.collect();
    let mut latency = Histogram::new(3)?;
    while let Some(each) = clients.join_next().await {
        latency.add(each??)?;
    }
    Ok(latency)
}

async fn one(mut client: Client, end: Instant) -> Result<Histogram<u64>, BoxError> {
    let mut latency = Histogram::new(3)?;
    loop {
        let start = Instant::now();
        if start >= end {
            return Ok(latency);
        }
        let request = Request::new(Method::GET, client.url.clone());
        let answer = client.service.ready().await?.call(request).await?;
        let body = answer.error_for_status()?.bytes().await?;
        assert_eq!(body, "done");
        latency.record(start.elapsed().as_micros() as u64)?;
    }
}
