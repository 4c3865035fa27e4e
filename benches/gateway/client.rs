//! The clients: each sends one request after the other and records how long each took. A few others stop in the middle of a
//! head.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use axum::http::{Request, StatusCode};
use hdrhistogram::Histogram;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::{BACKENDS, CLIENTS, HEAD_TIMEOUT, REQUEST_TIMEOUT, REQUESTS, SILENT, Tally};

/// A kept-alive connection.
type Client = SendRequest<Empty<Bytes>>;

/// The latency of each request, in microseconds.
pub(crate) type Latency = Histogram<u32>;

/// Runs all clients; the first failure drops, and so disconnects, the others. Returns the latencies, and the time from the
/// first connection to the last answer.
pub(crate) async fn run_all(
    gateway: SocketAddr,
    tally: &Arc<Tally>,
) -> Result<(Latency, Duration)> {
    let began = Instant::now();
    let mut silent = JoinSet::new();
    for _ in 0..SILENT {
        silent.spawn(fall_silent(gateway, Arc::clone(tally)));
    }
    let mut clients = JoinSet::new();
    for _ in 0..CLIENTS {
        // One after the other, so that none waits in the listener's queue.
        let client = connect(gateway).await?;
        clients.spawn(run(client, gateway, Arc::clone(tally)));
    }
    let mut latency = Histogram::new(3)?;
    while let Some(ended) = clients.join_next().await {
        latency.add(ended??)?;
    }
    let took = began.elapsed();
    while let Some(ended) = silent.join_next().await {
        ended??;
    }
    Ok((latency, took))
}

async fn run(mut client: Client, gateway: SocketAddr, tally: Arc<Tally>) -> Result<Latency> {
    let (mut received, mut latency) = (0, Histogram::new(3)?);
    for _ in 0..REQUESTS / CLIENTS {
        let sent = Instant::now();
        let mut answer = ask(&mut client).await;
        if answer.is_err() {
            // The gateway disconnects a client that is slow to continue, which happens if the machine stops.
            client = connect(gateway).await?;
            answer = ask(&mut client).await;
        }
        let took = sent.elapsed();
        latency.record(took.as_micros() as u64)?;
        let answer = answer?;
        received += answer.unwrap_or(0);
        if answer != Some(BACKENDS) {
            tally.partial.add(1);
            let is_early = answer.is_none() && took < REQUEST_TIMEOUT;
            tally.early.add(u64::from(is_early));
        }
    }
    tally.received.add(received);
    Ok(latency)
}

async fn connect(gateway: SocketAddr) -> Result<Client> {
    let socket = TcpStream::connect(gateway).await?;
    socket.set_nodelay(true)?;
    let (client, connection) = http1::handshake(TokioIo::new(socket)).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// Returns how many backends have answered, or `None` if the gateway's timeout ended the request.
async fn ask(client: &mut Client) -> Result<Option<u64>> {
    client.ready().await?;
    let request = Request::get("/").header("host", "gateway");
    let answer = client.send_request(request.body(Empty::new())?).await?;
    let status = answer.status();
    let body = answer.collect().await?.to_bytes();
    let text = String::from_utf8(body.into())?;
    match status {
        StatusCode::OK => Ok(Some(text.parse()?)),
        StatusCode::GATEWAY_TIMEOUT => Ok(None),
        other => bail!("the gateway answered {other}: {text}"),
    }
}

/// Sends half a head, and keeps the connection open until the gateway closes it.
async fn fall_silent(gateway: SocketAddr, tally: Arc<Tally>) -> Result<()> {
    let began = Instant::now();
    let mut socket = TcpStream::connect(gateway).await?;
    socket.write_all(b"GET / HTTP/1.1\r\nHost: gate").await?;
    let bytes = socket.read_to_end(&mut Vec::new()).await.unwrap_or(0);
    ensure!(bytes == 0, "an answer to half a request");
    let is_early = began.elapsed() < HEAD_TIMEOUT;
    tally.early.add(u64::from(is_early));
    Ok(())
}
