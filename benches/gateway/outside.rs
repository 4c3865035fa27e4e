//! The clients and the backends, in a process of their own and on Tokio's timers.
//!
//! It prints the ports of the backends, reads the address of the gateway, and sends requests at random times, at a fixed rate
//! on average. Then it prints how many answers of backends the clients have received, how many timers fired early, and
//! percentiles in nanoseconds: of the latency, from the time at which a request was to be sent, and of what the gateway
//! and the network added to the time of the slowest backend.

use std::future::pending;
use std::io::stdin;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use axum::Router;
use axum::extract::Path;
use axum::http::{StatusCode, Uri};
use axum::routing::get;
use common::println;
use hdrhistogram::Histogram;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use timers::{Timers as _, Tokio};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use crate::{BACKENDS, CALLS_PER_NEVER, HEAD_TIMEOUT, Options, REQUEST_TIMEOUT, SILENT, server};

/// The mean time of a backend. The times are distributed exponentially.
const MEAN: Duration = Duration::from_millis(3);
const LONGEST: Duration = Duration::from_millis(100);
/// Much longer than the last request takes.
const GIVE_UP: Duration = Duration::from_secs(30);

type Http = Client<HttpConnector, Empty<Bytes>>;

pub(crate) fn run(options: &Options) -> Result<()> {
    let runtime = Tokio::runtime(1);
    let _guard = runtime.enter();
    // Much longer than the gateway keeps a connection that it does not use.
    let backend = |_| server::start::<Tokio>(backend(), Duration::from_secs(600), Arc::default());
    let backends = (0..BACKENDS).map(backend);
    let backends = backends.collect::<Result<Vec<SocketAddr>>>()?.into_iter();
    let ports: Vec<_> = backends.map(|at| at.port().to_string()).collect();
    println!("{}", ports.join(" "));
    let mut line = String::new();
    stdin().read_line(&mut line)?;
    let gateway = line.trim().parse()?;
    let mut silent = JoinSet::new();
    (0..SILENT).for_each(|_| _ = silent.spawn(fall_silent(gateway)));
    let requests = send(options, gateway);
    let all = runtime.block_on(async {
        let ended = async { (requests.join_all().await, silent.join_all().await) };
        timeout(GIVE_UP, ended).await.context("a timer was lost")
    });
    let (answers, silent) = all?;
    let early = silent.into_iter().collect::<Result<Vec<_>>>()?;
    let mut early: u64 = early.into_iter().map(u64::from).sum();
    let (mut received, mut latency, mut added) = (0, Histogram::new(3)?, Histogram::new(3)?);
    for (number, answer) in answers.into_iter().enumerate() {
        let (took, answer) = answer?;
        let (count, slowest) = answer.unwrap_or_default();
        received += count;
        early += u64::from(answer.is_none() && took < REQUEST_TIMEOUT);
        // The first second is the warm-up.
        if number as u64 >= options.rate {
            let nanos = took.as_nanos() as u64;
            latency.record(nanos)?;
            if count == BACKENDS {
                added.record(nanos.saturating_sub(slowest))?;
            }
        }
    }
    let percentiles = |times: &Histogram<u64>| {
        let [p50, p99] = [0.5, 0.99].map(|part| times.value_at_quantile(part));
        format!("{p50} {p99}")
    };
    println!(
        "{received} {early} {} {}",
        percentiles(&latency),
        percentiles(&added)
    );
    Ok(())
}

/// Returns the routes of a backend. It answers how many nanoseconds it took.
fn backend() -> Router {
    let answer = async |Path(call): Path<u64>| {
        let began = Instant::now();
        if (call + 1) % CALLS_PER_NEVER == 0 {
            pending::<()>().await;
        }
        let part: f64 = SmallRng::seed_from_u64(call).random();
        sleep(MEAN.mul_f64(-(1.0 - part).ln()).min(LONGEST)).await;
        began.elapsed().as_nanos().to_string()
    };
    Router::new().route("/calls/{number}", get(answer))
}

/// The time from when a request was due, and what [`ask`] returned.
type Answer = Result<(Duration, Option<(u64, u64)>)>;

/// Sends all requests from this thread, which is no worker, and does not wait for the answers.
fn send(options: &Options, gateway: SocketAddr) -> JoinSet<Answer> {
    let client = Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        // Shorter than the gateway waits for a head.
        .pool_idle_timeout(HEAD_TIMEOUT / 2)
        .build({
            let mut connector = HttpConnector::new();
            connector.set_nodelay(true);
            connector
        });
    let gap = Duration::from_secs(1).div_f64(options.rate as f64);
    let (mut requests, mut random) = (JoinSet::new(), SmallRng::seed_from_u64(0));
    let mut due = Instant::now();
    for number in 0..options.requests() {
        due += gap.mul_f64(-(1.0 - random.random::<f64>()).ln());
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let client = client.clone();
        requests.spawn(async move {
            let answer = ask(client, gateway, number).await?;
            Ok((due.elapsed(), answer))
        });
    }
    requests
}

/// Returns how many backends have answered and the nanoseconds of the slowest, or `None` if the gateway's timeout ended
/// the request.
async fn ask(client: Http, gateway: SocketAddr, number: u64) -> Result<Option<(u64, u64)>> {
    let uri: Uri = format!("http://{gateway}/requests/{number}").parse()?;
    let answer = client.get(uri).await?;
    let status = answer.status();
    let body = answer.collect().await?.to_bytes();
    let text = std::str::from_utf8(&body)?;
    match status {
        StatusCode::OK => {
            let (count, slowest) = text.split_once(' ').context("two numbers")?;
            Ok(Some((count.parse()?, slowest.parse()?)))
        }
        StatusCode::GATEWAY_TIMEOUT => Ok(None),
        other => bail!("the gateway answered {other}: {text}"),
    }
}

/// Sends half a head, and keeps the connection open until the gateway closes it. Returns whether that was early.
async fn fall_silent(gateway: SocketAddr) -> Result<bool> {
    let began = Instant::now();
    let mut socket = TcpStream::connect(gateway).await?;
    socket.write_all(b"GET / HTTP/1.1\r\nHost: gate").await?;
    let bytes = socket.read_to_end(&mut Vec::new()).await.unwrap_or(0);
    ensure!(bytes == 0, "an answer to half a request");
    Ok(began.elapsed() < HEAD_TIMEOUT)
}
