//! A client: sends its requests a few ahead, notes how long each took, then leaves or falls silent.

use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};
use hdrhistogram::Histogram;
use indicatif::ProgressBar;
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

use crate::frame::{self, Frame, Frames};
use crate::plan::Plan;
use crate::timers::Instant;

/// What the clients heard.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) requests: u64,
    /// Answers without one or more of the backends.
    pub(crate) partial: u64,
    /// Answers of backends, over all requests.
    pub(crate) answered: u64,
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
            answered: 0,
            latency,
            finished: Instant::now(),
        })
    }

    pub(crate) fn add(&mut self, other: Heard) -> Result<()> {
        self.requests += other.requests;
        self.partial += other.partial;
        self.answered += other.answered;
        self.latency.add(other.latency)?;
        self.finished = self.finished.max(other.finished);
        Ok(())
    }

    fn note(&mut self, answer: Frame, sent: Instant, plan: &Plan) -> Result<()> {
        self.requests += 1;
        self.partial += u64::from(answer.value < plan.backends);
        self.answered += answer.value;
        self.finished = Instant::now();
        self.latency
            .record((self.finished - sent).as_micros() as u64)?;
        Ok(())
    }
}

pub(crate) async fn run(
    gateway: SocketAddr,
    connection: u64,
    plan: Plan,
    progress: ProgressBar,
) -> Result<Heard> {
    let mut client = Client::connect(gateway, connection, plan).await?;
    let mut heard = Heard::nothing()?;
    for _ in 0..plan.in_flight {
        client.send().await?;
    }
    while heard.requests < client.total {
        let (answer, sent) = client.receive().await?;
        heard.note(answer, sent, &plan)?;
        client.send().await?;
        progress.inc(1);
    }
    if plan.is_silent(connection) {
        client.wait_for_close().await?;
    }
    Ok(heard)
}

struct Client {
    answers: Frames<OwnedReadHalf>,
    requests: OwnedWriteHalf,
    /// The number of the first request.
    first: u64,
    total: u64,
    /// When each request was sent, the first one first.
    sent: Vec<Instant>,
}

impl Client {
    async fn connect(gateway: SocketAddr, connection: u64, plan: Plan) -> Result<Self> {
        let socket = TcpStream::connect(gateway)
            .await
            .context("the gateway cannot be reached")?;
        socket.set_nodelay(true)?;
        let (reader, requests) = socket.into_split();
        let numbers = plan.requests_of(connection);
        let total = numbers.end - numbers.start;
        let sent = Vec::with_capacity(total as usize);
        Ok(Client {
            answers: Frames::new(reader),
            requests,
            first: numbers.start,
            total,
            sent,
        })
    }

    /// Sends the next request, if one is left.
    async fn send(&mut self) -> Result<()> {
        let next = self.sent.len() as u64;
        if next < self.total {
            self.sent.push(Instant::now());
            frame::send(&mut self.requests, &[Frame::new(self.first + next)]).await?;
        }
        Ok(())
    }

    /// The next answer and when its request was sent; answers come in any order.
    async fn receive(&mut self) -> Result<(Frame, Instant)> {
        let answer = self
            .answers
            .next()
            .await?
            .context("a connection was closed though its client was not silent")?;
        let sent = answer
            .number
            .checked_sub(self.first)
            .and_then(|index| self.sent.get(index as usize));
        Ok((
            answer,
            *sent.context("an answer to a request that was not sent")?,
        ))
    }

    /// Holds the connection open without a word until the gateway's idle timer ends it.
    async fn wait_for_close(&mut self) -> Result<()> {
        ensure!(
            self.answers.next().await?.is_none(),
            "an answer more than there were requests"
        );
        Ok(())
    }
}
