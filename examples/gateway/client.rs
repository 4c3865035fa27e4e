//! A client: sends one request after the other, notes how long each took, then leaves, or falls
//! silent in the middle of a head.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail, ensure};
use axum::http::{Request, StatusCode};
use hdrhistogram::Histogram;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, Parts, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;

use crate::plan::{BACKENDS, Plan};

/// What the clients heard.
#[derive(Debug)]
pub(crate) struct Heard {
    /// Answers without one or more of the backends.
    pub(crate) partial: u64,
    /// Requests that the gateway's limit ended.
    pub(crate) late: u64,
    /// Answers of backends, over all requests.
    pub(crate) answered: u64,
    /// Connections that the gateway closed on a client that was slow to go on: on a machine that
    /// stands still, that happens.
    pub(crate) reopened: u64,
    /// Ended by a timer before its time.
    pub(crate) early: u64,
    /// In microseconds, of each request.
    pub(crate) latency: Histogram<u32>,
    /// When the last answer came.
    pub(crate) finished: Instant,
}

impl Heard {
    fn nothing() -> Result<Self> {
        Ok(Heard {
            partial: 0,
            late: 0,
            answered: 0,
            reopened: 0,
            early: 0,
            latency: Histogram::new(3)?,
            finished: Instant::now(),
        })
    }

    pub(crate) fn requests(&self) -> u64 {
        self.latency.len()
    }

    fn add(&mut self, other: &Heard) -> Result<()> {
        self.partial += other.partial;
        self.late += other.late;
        self.answered += other.answered;
        self.reopened += other.reopened;
        self.early += other.early;
        self.finished = self.finished.max(other.finished);
        Ok(self.latency.add(&other.latency)?)
    }

    fn note(&mut self, answer: Option<u64>, sent: Instant, plan: &Plan) -> Result<()> {
        self.finished = Instant::now();
        let took = self.finished - sent;
        match answer {
            Some(backends) => {
                self.partial += u64::from(backends < BACKENDS);
                self.answered += backends;
            }
            None => {
                self.late += 1;
                self.early += u64::from(took < plan.request_timeout());
            }
        }
        Ok(self.latency.record(took.as_micros() as u64)?)
    }
}

/// Runs every client; the first failure drops, and so closes, the others.
pub(crate) async fn run_all(gateway: SocketAddr, plan: Plan) -> Result<Heard> {
    let mut clients = JoinSet::new();
    for connection in 0..plan.connections {
        clients.spawn(run(gateway, connection, plan));
    }
    let mut heard = Heard::nothing()?;
    while let Some(ended) = clients.join_next().await {
        heard.add(&ended??)?;
    }
    Ok(heard)
}

async fn run(gateway: SocketAddr, connection: u64, plan: Plan) -> Result<Heard> {
    let mut client = Client::connect(gateway).await?;
    let mut heard = Heard::nothing()?;
    let mut sent = Instant::now();
    for number in plan.requests_of(connection) {
        sent = Instant::now();
        let answer = match client.ask(number).await {
            Ok(answer) => answer,
            Err(_) => {
                client = Client::connect(gateway).await?;
                heard.reopened += 1;
                client.ask(number).await?
            }
        };
        heard.note(answer, sent, &plan)?;
    }
    if plan.is_silent(connection) {
        client.fall_silent().await?;
        heard.early += u64::from(sent.elapsed() < plan.head_timeout());
    }
    Ok(heard)
}

/// A connection that is kept.
struct Client {
    requests: SendRequest<Empty<Bytes>>,
    /// Carries the connection, and gives the socket back when there are no more requests.
    connection: JoinHandle<hyper::Result<Parts<TokioIo<TcpStream>>>>,
}

impl Client {
    async fn connect(server: SocketAddr) -> Result<Self> {
        let socket = TcpStream::connect(server).await;
        let socket = socket.context("the gateway cannot be reached")?;
        socket.set_nodelay(true)?;
        let (requests, connection) = http1::handshake(TokioIo::new(socket)).await?;
        let connection = tokio::spawn(connection.without_shutdown());
        Ok(Client {
            requests,
            connection,
        })
    }

    /// How many backends have answered; `None` where the gateway's limit ended the request.
    async fn ask(&mut self, number: u64) -> Result<Option<u64>> {
        self.requests.ready().await?;
        let request = Request::get(format!("/requests/{number}")).header("host", "gateway");
        let request = request.body(Empty::new())?;
        let answer = self.requests.send_request(request).await?;
        let status = answer.status();
        let body = answer.collect().await?.to_bytes();
        let text = String::from_utf8(body.into())?;
        let text = text.trim();
        match status {
            StatusCode::OK => Ok(Some(text.parse()?)),
            StatusCode::GATEWAY_TIMEOUT => Ok(None),
            other => bail!("the gateway says {other}: {text}"),
        }
    }

    /// Sends half a head, and holds the connection open until the gateway ends it.
    async fn fall_silent(self) -> Result<()> {
        drop(self.requests);
        let mut socket = self.connection.await??.io.into_inner();
        let half = socket.write_all(b"GET / HTTP/1.1\r\nHost: gate");
        // Where the machine has stood still, the gateway may have closed already.
        if half.await.is_ok() {
            let heard = socket.read_to_end(&mut Vec::new()).await.unwrap_or(0);
            ensure!(heard == 0, "an answer to half a request");
        }
        Ok(())
    }
}
