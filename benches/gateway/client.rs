//! The clients: each sends one request after the other, and notes how long each took; beside them some
//! fall silent in the middle of a head.

use std::net::SocketAddr;
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

use crate::plan::{BACKENDS, Plan};

/// A connection that is kept.
type Client = SendRequest<Empty<Bytes>>;

/// Of each request, in microseconds.
pub(crate) type Latency = Histogram<u32>;

/// Runs every client; the first failure drops, and so closes, the others. Says what each request took, and how long it
/// was from the first connection to the last answer.
pub(crate) async fn run_all(gateway: SocketAddr, plan: &Plan) -> Result<(Latency, Duration)> {
    let began = Instant::now();
    let mut silent = JoinSet::new();
    for _ in 0..plan.all_silent() {
        silent.spawn(fall_silent(gateway, plan.clone()));
    }
    let mut clients = JoinSet::new();
    for _ in 0..plan.load.connections {
        // One after the other: a listener's queue has room for 128.
        let client = connect(gateway).await?;
        clients.spawn(run(client, gateway, plan.clone()));
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

async fn run(mut client: Client, gateway: SocketAddr, plan: Plan) -> Result<Latency> {
    let (mut heard, mut latency) = (0, Histogram::new(3)?);
    for _ in 0..plan.load.requests {
        let sent = Instant::now();
        let mut answer = ask(&mut client).await;
        if answer.is_err() {
            // Closed on a client that was slow to go on: on a machine that stands still, that happens.
            client = connect(gateway).await?;
            answer = ask(&mut client).await;
        }
        let took = sent.elapsed();
        latency.record(took.as_micros() as u64)?;
        let answer = answer?;
        heard += answer.unwrap_or(0);
        if answer != Some(BACKENDS) {
            plan.tally.partial.add(1);
            let is_early = answer.is_none() && took < plan.request_timeout();
            plan.tally.early.add(u64::from(is_early));
        }
    }
    plan.tally.heard.add(heard);
    Ok(latency)
}

async fn connect(gateway: SocketAddr) -> Result<Client> {
    let socket = TcpStream::connect(gateway).await?;
    socket.set_nodelay(true)?;
    let (client, connection) = http1::handshake(TokioIo::new(socket)).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// How many backends have answered; `None` where the gateway's limit ended the request.
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
        other => bail!("the gateway says {other}: {text}"),
    }
}

/// Sends half a head, and holds the connection open until the gateway ends it.
async fn fall_silent(gateway: SocketAddr, plan: Plan) -> Result<()> {
    let began = Instant::now();
    let mut socket = TcpStream::connect(gateway).await?;
    socket.write_all(b"GET / HTTP/1.1\r\nHost: gate").await?;
    let heard = socket.read_to_end(&mut Vec::new()).await.unwrap_or(0);
    ensure!(heard == 0, "an answer to half a request");
    let is_early = began.elapsed() < plan.head_timeout();
    plan.tally.early.add(u64::from(is_early));
    Ok(())
}
