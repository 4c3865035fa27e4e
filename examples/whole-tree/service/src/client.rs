//! The client: reqwest with its pool and its limits, under tower's limit for each request.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Result, anyhow, ensure};
use reqwest::{Method, Request, StatusCode, Url};
use tower::timeout::Timeout;
use tower::{Service, ServiceBuilder, ServiceExt};

#[derive(Clone)]
pub(crate) struct Client {
    service: Timeout<reqwest::Client>,
    url: Url,
}

pub(crate) fn new(server: SocketAddr, connections: usize) -> Result<Client> {
    let pool = reqwest::Client::builder()
        .connect_timeout(Duration::from_secs(2))
        .timeout(Duration::from_secs(10))
        .read_timeout(Duration::from_secs(5))
        .pool_idle_timeout(Duration::from_secs(30))
        .pool_max_idle_per_host(connections)
        .build()?;
    let limited = ServiceBuilder::new().timeout(Duration::from_secs(5));
    let (service, url) = (limited.service(pool), format!("http://{server}/").parse()?);
    Ok(Client { service, url })
}

impl Client {
    /// One request.
    pub(crate) async fn get(&mut self) -> Result<()> {
        let request = Request::new(Method::GET, self.url.clone());
        let service = self.service.ready().await.map_err(|error| anyhow!(error))?;
        let response = service.call(request).await;
        let response = response.map_err(|error| anyhow!(error))?;
        let status = response.status();
        ensure!(status == StatusCode::OK, "answered {status}");
        ensure!(response.bytes().await? == "done", "another answer");
        Ok(())
    }
}
