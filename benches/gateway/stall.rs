//! An outage, as clients see it: a backend accepts connections and reads nothing, so the requests that need it time out, all
//! at one deadline, as the calls of a batch do.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, ensure};
use common::probe::{Probe, Wait, between, quantile};
use timers::{Timers as _, Tokio};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::outside::{GIVE_UP, POOL_IDLE, ask};
use crate::server::client;
use crate::{Options, REST};

/// From one request for the gateway's health to the next, and how many connections send them in turn.
const EVERY: Duration = Duration::from_millis(10);
const CHECKERS: u32 = 8;
/// HTTP/2 connections, which the requests share.
const CONNECTIONS: usize = 16;

pub(crate) struct Stall {
    health: Vec<Probe>,
    /// Returns when the last request was answered.
    stalled: JoinHandle<Result<Instant>>,
    deadline: Instant,
}

impl Stall {
    /// Starts to send, to the gateway's address for HTTP/1 and to that for HTTP/2. The others' requests go on for two
    /// seconds after the deadline.
    pub(crate) fn start(options: &Options, gateway: SocketAddr, http2: SocketAddr) -> Result<Self> {
        let deadline = Instant::now() + Duration::from_secs(options.seconds.saturating_sub(1));
        let requests = send(options.stalled as u32, http2, deadline);
        let health = (0..CHECKERS).map(|_| health(gateway));
        Ok(Self {
            health: health.collect::<Result<_>>()?,
            stalled: thread::spawn(|| Tokio::runtime(1).block_on(requests)),
            deadline,
        })
    }

    /// Returns what is measured from the deadline until the last answer.
    pub(crate) fn end(self, healthy: Vec<Wait>) -> Result<String> {
        let over = self.stalled.join().expect("the requests")?;
        let health = self.health.into_iter().flat_map(Probe::stop);
        let waits = [health.collect(), healthy];
        let [health, healthy] = waits.map(|waits| between(waits, self.deadline, over));
        let last = over.saturating_duration_since(self.deadline).as_nanos();
        let [longest, p99] = [1.0, 0.99].map(|share| quantile(&health, share));
        let others = quantile(&healthy, 0.99);
        Ok(format!(" {longest} {p99} {others} {last}"))
    }
}

fn health(gateway: SocketAddr) -> Result<Probe> {
    let mut stream = TcpStream::connect(gateway)?;
    stream.set_nodelay(true)?;
    let mut answer = [0; 512];
    thread::sleep(EVERY);
    Ok(Probe::start(CHECKERS * EVERY, move || {
        let request = b"GET /health HTTP/1.1\r\nHost: gateway\r\n\r\n";
        stream.write_all(request).expect("a request");
        let length = stream.read(&mut answer).expect("an answer");
        assert!(answer[..length].starts_with(b"HTTP/1.1 204 "), "no health");
    }))
}

/// Sends the requests evenly. Returns when the last one was answered.
async fn send(requests: u32, gateway: SocketAddr, deadline: Instant) -> Result<Instant> {
    let left = deadline.saturating_duration_since(Instant::now());
    let unix = (SystemTime::now() + left).duration_since(UNIX_EPOCH)?;
    let gap = left.saturating_sub(REST) / requests;
    let clients: Vec<_> = (0..CONNECTIONS)
        .map(|_| client::<Tokio>(true, POOL_IDLE))
        .collect();
    let mut answers = JoinSet::new();
    for number in 0..requests {
        let client = clients[number as usize % CONNECTIONS].clone();
        let path = format!("stalled/{number}/{}", unix.as_micros());
        answers.spawn(async move {
            sleep(gap * number).await;
            ask(client, gateway, path).await
        });
    }
    let answers = timeout(GIVE_UP, answers.join_all()).await;
    let over = Instant::now();
    for answer in answers.context("a timer was lost")? {
        ensure!(answer?.is_none(), "the backend has answered");
    }
    Ok(over)
}
