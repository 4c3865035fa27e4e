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
use indicatif::ProgressBar;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use crate::plan::Plan;
use crate::timers::Instant;

/// What the clients heard.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) requests: u64,
    /// Answers without one or more of the backends.
    pub(crate) partial: u64,
    /// Requests that the gateway's limit ended.
    pub(crate) late: u64,
    /// Answers of backends, over all requests.
    pub(crate) answered: u64,
    /// Connections that the gateway closed on a client who was slow to go on: on a machine that
    /// stands still, that happens.
    pub(crate) reopened: u64,
    /// Ended by a timer before its time.
    pub(crate) early: u64,
    /// In microseconds.
    pub(crate) latency: Histogram<u32>,
    /// When the last answer came.
    pub(crate) finished: Instant,
}

impl Heard {
    pub(crate) fn nothing() -> Result<Self> {
        let latency = Histogram::new(3)?;
        Ok(Heard {
            requests: 0,
            partial: 0,
            late: 0,
            answered: 0,
            reopened: 0,
            early: 0,
            latency,
            finished: Instant::now(),
        })
    }

    pub(crate) fn add(&mut self, other: Heard) -> Result<()> {
        self.requests += other.requests;
        self.partial += other.partial;
        self.late += other.late;
        self.answered += other.answered;
        self.reopened += other.reopened;
        self.early += other.early;
        self.latency.add(other.latency)?;
        self.finished = self.finished.max(other.finished);
        Ok(())
    }

    fn note(&mut self, answer: Answer, sent: Instant, plan: &Plan) -> Result<()> {
        self.finished = Instant::now();
        let took = self.finished - sent;
        self.requests += 1;
        match answer {
            Answer::From(backends) => {
                self.partial += u64::from(backends < plan.backends);
                self.answered += backends;
            }
            Answer::Late => {
                self.late += 1;
                self.early += u64::from(took < plan.request_timeout);
            }
        }
        self.latency.record(took.as_micros() as u64)?;
        Ok(())
    }
}

/// The gateway's answer.
#[derive(Debug)]
enum Answer {
    From(u64),
    Late,
}

pub(crate) async fn run(
    gateway: SocketAddr,
    connection: u64,
    plan: Plan,
    progress: ProgressBar,
) -> Result<Heard> {
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
        progress.inc(1);
    }
    if plan.is_silent(connection) {
        client.fall_silent().await?;
        heard.early += u64::from(sent.elapsed() < plan.head_timeout);
    }
    Ok(heard)
}

/// The text of a page, over a connection of its own.
pub(crate) async fn page(server: SocketAddr, path: &str) -> Result<String> {
    let mut client = Client::connect(server).await?;
    let (status, text) = client.get(path).await?;
    ensure!(status == 200, "{path}: {status}");
    Ok(text)
}

/// A connection that is kept.
struct Client {
    requests: SendRequest<Empty<Bytes>>,
    /// Carries the connection, and gives the socket back when there are no more requests.
    connection: JoinHandle<hyper::Result<Parts<TokioIo<TcpStream>>>>,
}

impl Client {
    async fn connect(server: SocketAddr) -> Result<Self> {
        let socket = TcpStream::connect(server)
            .await
            .context("the gateway cannot be reached")?;
        socket.set_nodelay(true)?;
        let (requests, connection) = http1::handshake(TokioIo::new(socket)).await?;
        Ok(Client {
            requests,
            connection: tokio::spawn(connection.without_shutdown()),
        })
    }

    async fn ask(&mut self, number: u64) -> Result<Answer> {
        let (status, text) = self.get(&format!("/requests/{number}")).await?;
        match status {
            StatusCode::OK => Ok(Answer::From(text.trim().parse()?)),
            StatusCode::GATEWAY_TIMEOUT => Ok(Answer::Late),
            other => bail!("the gateway says {other}: {}", text.trim()),
        }
    }

    async fn get(&mut self, path: &str) -> Result<(StatusCode, String)> {
        self.requests.ready().await?;
        let request = Request::get(path).header("host", "gateway");
        let answer = self
            .requests
            .send_request(request.body(Empty::new())?)
            .await?;
        let status = answer.status();
        let body = answer.collect().await?.to_bytes();
        Ok((status, String::from_utf8(body.into())?))
    }

    /// Sends half a head, and holds the connection open until the gateway ends it.
    async fn fall_silent(self) -> Result<()> {
        drop(self.requests);
        let mut socket = self.connection.await??.io.into_inner();
        // Where the machine has stood still, the gateway may have closed already.
        if socket
            .write_all(b"GET / HTTP/1.1\r\nHost: gate")
            .await
            .is_ok()
        {
            let heard = socket.read_to_end(&mut Vec::new()).await.unwrap_or(0);
            ensure!(heard == 0, "an answer to half a request");
        }
        Ok(())
    }
}
