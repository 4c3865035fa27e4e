//! The clients and the backends, in a process of their own and on Tokio's timers.
//!
//! It prints the ports of the backends, reads the address of the gateway, and sends requests at random times, at a fixed rate
//! on average. Then it prints how many answers of backends the clients have received, how many timers fired early, and
//! percentiles in nanoseconds: of the latency, from the time at which a request was to be sent, and of what the gateway
//! and the network added to the time of the slowest backend.

use std::future::pending;
use std::io::stdin;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use axum::Router;
use axum::extract::Path;
use axum::http::{StatusCode, Uri};
use axum::routing::get;
use common::println;
use common::probe::{Wait, between, quantile};
use http_body_util::BodyExt as _;
use hyper_util::server::conn::auto::Builder;
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use timers::{Timers as _, Tokio};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::server::{Http, client};
use crate::stall::Stall;
use crate::{BACKENDS, CALLS_PER_NEVER, HEAD_TIMEOUT, Options, REQUEST_TIMEOUT, SILENT, server};

/// The mean time of a backend. The times are distributed exponentially.
const MEAN: Duration = Duration::from_millis(3);
const LONGEST: Duration = Duration::from_millis(100);
/// Much longer than the last request takes.
pub(crate) const GIVE_UP: Duration = Duration::from_secs(30);
/// Shorter than the gateway waits for a head.
pub(crate) const POOL_IDLE: Duration = HEAD_TIMEOUT.checked_div(2).unwrap();

pub(crate) fn run(options: &Options) -> Result<()> {
    let runtime = Tokio::runtime(1);
    let _guard = runtime.enter();
    // Much longer than the gateway keeps a connection that it does not use.
    let head = Duration::from_secs(600);
    let start = server::start::<Tokio>;
    let backend = |_| start(backend(), head, Arc::default(), Builder::http1_only);
    let backends = (0..BACKENDS).map(backend);
    let mut backends = backends.collect::<Result<Vec<SocketAddr>>>()?;
    // The kernel accepts connections, and nobody reads.
    let stalled = TcpListener::bind(("127.0.0.1", 0))?;
    backends.push(stalled.local_addr()?);
    let ports: Vec<_> = backends.iter().map(|at| at.port().to_string()).collect();
    println!("{}", ports.join(" "));
    let mut line = String::new();
    stdin().read_line(&mut line)?;
    let (gateway, http2) = line.trim().split_once(' ').context("two addresses")?;
    let (gateway, http2) = (gateway.parse()?, http2.parse()?);
    let stall = (options.stalled > 0).then(|| Stall::start(options, gateway, http2));
    let mut silent = JoinSet::new();
    (0..SILENT).for_each(|_| _ = silent.spawn(fall_silent(gateway)));
    let began = Instant::now();
    let requests = send(options, gateway);
    let all = runtime.block_on(async {
        let ended = async { (requests.join_all().await, silent.join_all().await) };
        timeout(GIVE_UP, ended).await.context("a timer was lost")
    });
    let (answers, silent) = all?;
    let early = silent.into_iter().collect::<Result<Vec<_>>>()?;
    let mut early: u64 = early.into_iter().map(u64::from).sum();
    let (mut received, mut latency, mut added) = (0, Vec::new(), Vec::new());
    for answer in answers {
        let (due, took, answer) = answer?;
        let (count, slowest) = answer.unwrap_or_default();
        received += count;
        early += u64::from(answer.is_none() && took < REQUEST_TIMEOUT);
        latency.push((due, due + took));
        if count == BACKENDS {
            let without = took.saturating_sub(Duration::from_nanos(slowest));
            added.push((due, due + without));
        }
    }
    let values = match stall {
        Some(stall) => stall?.end(added)?,
        None => percentiles(latency, began) + &percentiles(added, began),
    };
    println!("{received} {early}{values}");
    Ok(())
}

/// Returns the median and the 99th percentile, except those of the first second, which is the warm-up.
fn percentiles(waits: Vec<Wait>, began: Instant) -> String {
    let (measured, over) = (began + Duration::from_secs(1), Instant::now());
    let times = between(waits, measured, over);
    let [p50, p99] = [0.5, 0.99].map(|share| quantile(&times, share));
    format!(" {p50} {p99}")
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

/// When a request was due, the time from then on, and what [`ask`] returned.
type Answer = Result<(Instant, Duration, Option<(u64, u64)>)>;

/// Sends all requests from this thread, which is no worker, and does not wait for the answers.
fn send(options: &Options, gateway: SocketAddr) -> JoinSet<Answer> {
    let client = client::<Tokio>(false, POOL_IDLE);
    let gap = Duration::from_secs(1).div_f64(options.rate as f64);
    let (mut requests, mut random) = (JoinSet::new(), SmallRng::seed_from_u64(0));
    let mut due = Instant::now();
    for number in 0..options.requests() {
        due += gap.mul_f64(-(1.0 - random.random::<f64>()).ln());
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let client = client.clone();
        requests.spawn(async move {
            let answer = ask(client, gateway, format!("requests/{number}")).await?;
            Ok((due, due.elapsed(), answer))
        });
    }
    requests
}

/// Returns how many backends have answered and the nanoseconds of the slowest, or `None` if the gateway's timeout ended
/// the request.
pub(crate) async fn ask(
    client: Http,
    gateway: SocketAddr,
    path: String,
) -> Result<Option<(u64, u64)>> {
    let uri: Uri = format!("http://{gateway}/{path}").parse()?;
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
