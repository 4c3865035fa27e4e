//! One run: a fresh runtime, backends, a gateway and clients, all ended before it returns.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Error, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use tokio::runtime::Builder;
use tokio::task::JoinSet;

use crate::client::{self, Heard};
use crate::gateway::{self, Served};
use crate::options::Options;
use crate::plan::{Expected, Plan};
use crate::server::Server;
use crate::timers::{Instant, Timers};
use crate::{backend, machine};

/// What a run came to, as each of the three parties saw it.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) name: &'static str,
    pub(crate) heard: Heard,
    pub(crate) served: Served,
    /// Calls that reached a backend.
    pub(crate) backends_saw: u64,
    /// From the first connection to the last answer; silent clients are not waited for here.
    pub(crate) elapsed: Duration,
    pub(crate) cpu: Option<Duration>,
}

pub(crate) fn run<T: Timers>(options: &Options) -> Result<Run> {
    let cpu_before = machine::cpu_time();
    let runtime = Builder::new_multi_thread()
        .worker_threads(options.workers)
        .enable_all()
        .build()?;
    let progress = progress_bar(T::NAME, Expected::of(&options.plan).requests);
    let work = serve_all::<T>(options.plan, progress.clone());
    // Always on tokio's own timer: it is there to notice that the other one has lost a wake-up.
    let ended = runtime.block_on(async { tokio::time::timeout(options.give_up, work).await });
    progress.finish_and_clear();
    drop(runtime);
    let mut run =
        ended.context("no end within --give-up: a timer was lost, or this is too much work")??;
    run.cpu = machine::cpu_time()
        .zip(cpu_before)
        .map(|(after, before)| after - before);
    Ok(run)
}

async fn serve_all<T: Timers>(plan: Plan, progress: ProgressBar) -> Result<Run> {
    let mut backends = Vec::new();
    for _ in 0..plan.backends {
        backends.push(Server::start(move |socket| backend::serve::<T>(socket, plan)).await?);
    }
    let addresses: Arc<[SocketAddr]> = backends.iter().map(Server::address).collect();
    let gateway =
        Server::start(move |socket| gateway::serve::<T>(socket, addresses.clone(), plan)).await?;

    let started = Instant::now();
    let heard = run_clients(gateway.address(), plan, progress).await;
    let served = gateway.stop().await.map(total_served);
    let backends_saw = total_seen(backends).await;
    let (heard, served, backends_saw) = all_of(heard, served, backends_saw)?;
    let elapsed = heard.finished - started;
    Ok(Run {
        name: T::NAME,
        heard,
        served,
        backends_saw,
        elapsed,
        cpu: None,
    })
}

/// One party's failure closes connections under the others, so all that failed have their say.
fn all_of(
    heard: Result<Heard>,
    served: Result<Served>,
    backends_saw: Result<u64>,
) -> Result<(Heard, Served, u64)> {
    match (heard, served, backends_saw) {
        (Ok(heard), Ok(served), Ok(backends_saw)) => Ok((heard, served, backends_saw)),
        (heard, served, backends_saw) => {
            let say = |who, error: Option<Error>| error.map(|error| format!("{who}: {error:#}"));
            let client = say("a client", heard.err());
            let gateway = say("the gateway", served.err());
            let backend = say("a backend", backends_saw.err());
            let failed: Vec<_> = [client, gateway, backend].into_iter().flatten().collect();
            bail!(failed.join("; "))
        }
    }
}

/// Runs every client; the first failure drops, and so closes, the others.
async fn run_clients(gateway: SocketAddr, plan: Plan, progress: ProgressBar) -> Result<Heard> {
    let mut clients = JoinSet::new();
    for connection in 0..plan.connections {
        clients.spawn(client::run(gateway, connection, plan, progress.clone()));
    }
    let mut heard = Heard::nothing()?;
    while let Some(ended) = clients.join_next().await {
        heard.add(ended??)?;
    }
    Ok(heard)
}

fn total_served(connections: Vec<Served>) -> Served {
    let mut total = Served::default();
    connections
        .into_iter()
        .for_each(|connection| total += connection);
    total
}

async fn total_seen(backends: Vec<Server<u64>>) -> Result<u64> {
    let mut total = 0;
    for backend in backends {
        total += backend.stop().await?.iter().sum::<u64>();
    }
    Ok(total)
}

/// Draws to stderr, and only where that is a terminal.
fn progress_bar(name: &'static str, requests: u64) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{prefix:11} {wide_bar} {human_pos}/{human_len} requests");
    let bar = ProgressBar::new(requests).with_prefix(name);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}
