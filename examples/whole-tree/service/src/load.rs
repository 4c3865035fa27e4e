//! The load: so many requests under way at a time, each as soon as the last is answered.

use std::time::Duration;

use anyhow::Result;
use hdrhistogram::Histogram;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::client::Client;

/// What has become of the requests.
pub(crate) struct Outcome {
    pub(crate) requests: u64,
    pub(crate) took: Duration,
    /// Microseconds from request to answer.
    pub(crate) latency: Histogram<u64>,
}

pub(crate) async fn run(client: &Client, connections: usize, time: Duration) -> Result<Outcome> {
    let start = Instant::now();
    let mut tasks = JoinSet::new();
    for _ in 0..connections {
        tasks.spawn(one(client.clone(), start + time));
    }
    let mut latency = Histogram::new(3)?;
    while let Some(each) = tasks.join_next().await {
        latency.add(each??)?;
    }
    Ok(Outcome {
        requests: latency.len(),
        took: start.elapsed(),
        latency,
    })
}

async fn one(mut client: Client, end: Instant) -> Result<Histogram<u64>> {
    let mut latency = Histogram::new(3)?;
    loop {
        let start = Instant::now();
        if start >= end {
            return Ok(latency);
        }
        client.get().await?;
        latency.record(start.elapsed().as_micros() as u64)?;
    }
}
