//! An outage, as clients see it: a backend accepts connections and reads nothing, so the requests that need it time out. All
//! have one deadline, as the calls of a batch do, or each has its own, as under a steady load.

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
    /// The first deadline of these, and the last one.
    deadlines: [Instant; 2],
}

impl Stall {
    /// Starts to send, to the gateway's address for HTTP/1 and to that for HTTP/2. The others' requests go on for two
    /// seconds after the last deadline.
    pub(crate) fn start(options: &Options, gateway: SocketAddr, http2: SocketAddr) -> Result<Self> {
        let health = (0..CHECKERS).map(|_| health(gateway));
        let health = health.collect::<Result<_>>()?;
        let began = Instant::now();
        let last = began + Duration::from_secs(options.seconds.saturating_sub(1));
        let first = if options.steady { began + REST } else { last };
        let requests = send(options.stalled, http2, [first, last]);
        Ok(Self {
            health,
            stalled: thread::spawn(|| Tokio::runtime(1).block_on(requests)),
            deadlines: [first, last],
        })
    }

    /// Returns what is measured from the first deadline until the last answer.
    pub(crate) fn end(self, healthy: Vec<Wait>) -> Result<String> {
        let over = self.stalled.join().expect("the requests")?;
        let health = self.health.into_iter().flat_map(Probe::stop);
        let waits = [health.collect(), healthy];
        let [first, last] = self.deadlines;
        let [health, healthy] = waits.map(|waits| between(waits, first, over));
        let last = over.saturating_duration_since(last).as_nanos();
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

/// Sends the requests evenly, and spreads their deadlines evenly; `last` is the last one's. Returns when the last one was
/// answered.
async fn send(requests: u32, gateway: SocketAddr, [first, last]: [Instant; 2]) -> Result<Instant> {
    let left = first.saturating_duration_since(Instant::now());
    let unix = (SystemTime::now() + left).duration_since(UNIX_EPOCH)?;
    let apart = (last - first) / requests;
    let gap = (last - Instant::now()).saturating_sub(REST) / requests;
    let clients: Vec<_> = (0..CONNECTIONS)
        .map(|_| client::<Tokio>(true, POOL_IDLE))
        .collect();
    let mut answers = JoinSet::new();
    for number in 1..=requests {
        let client = clients[number as usize % CONNECTIONS].clone();
        let deadline = unix + apart * number;
        let path = format!("stalled/{number}/{}", deadline.as_micros());
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
