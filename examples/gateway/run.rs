//! One run: a fresh runtime, backends, a gateway and clients, all ended before it returns.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use crate::client::{self, Heard};
use crate::exporter::{self, Exporter};
use crate::options::Options;
use crate::plan::{Expected, Plan};
use crate::server::{Connections, Server};
use crate::tally::Tally;
use crate::timers::{Instant, Timers};
use crate::upstream::Upstream;
use crate::{backend, gateway};

/// A free port of this machine.
pub(crate) const ANYWHERE: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Much longer than the gateway keeps a connection to a backend that it does not use.
const BACKEND_HEAD: Duration = Duration::from_secs(600);

/// What a run came to, as each of the parties saw it.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) name: &'static str,
    pub(crate) heard: Heard,
    pub(crate) tally: Arc<Tally>,
    pub(crate) connections: Connections,
    /// Calls that reached a backend.
    pub(crate) backends_saw: u64,
    pub(crate) exported: Exported,
    /// From the first connection to the last answer; silent clients are not waited for here.
    pub(crate) elapsed: Duration,
    pub(crate) cpu: Option<Duration>,
}

/// What `/metrics` says at the end.
#[derive(Debug)]
pub(crate) struct Exported {
    pub(crate) requests: u64,
    pub(crate) call_timeouts: u64,
    /// `None` where the timers count nothing.
    pub(crate) timers: Option<TimerCounts>,
}

/// What the timers say of themselves.
#[derive(Debug)]
pub(crate) struct TimerCounts {
    pub(crate) registered: u64,
    pub(crate) fired: u64,
    pub(crate) cancelled: u64,
    pub(crate) active: u64,
}

pub(crate) fn run<T: Timers>(options: &Options, exporter: &Exporter) -> Result<Run> {
    let cpu_before = common::process::cpu_time();
    let runtime = runtime(options.workers)?;
    let progress = progress_bar(T::NAME, Expected::of(&options.plan).requests);
    let work = serve_all::<T>(options.plan, exporter.clone(), progress.clone());
    // Always on tokio's own timer: it is there to notice that the other one has lost a wake-up.
    let ended = runtime.block_on(async { tokio::time::timeout(options.give_up, work).await });
    progress.finish_and_clear();
    drop(runtime);
    let mut run =
        ended.context("no end within --give-up: a timer was lost, or this is too much work")??;
    run.cpu = common::process::cpu_time()
        .zip(cpu_before)
        .map(|(after, before)| after - before);
    Ok(run)
}

pub(crate) fn runtime(workers: usize) -> Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(workers).enable_all();
    Ok(builder.build()?)
}

async fn serve_all<T: Timers>(
    plan: Plan,
    exporter: Exporter,
    progress: ProgressBar,
) -> Result<Run> {
    let service = Service::start::<T>(plan, ANYWHERE, &exporter)?;
    let started = Instant::now();
    let heard = run_clients(service.gateway.address(), plan, progress).await?;
    let exported = exported::<T>(service.gateway.address()).await?;
    let elapsed = heard.finished - started;
    let (tally, seen) = (service.tally.clone(), service.seen.clone());
    let connections = service.stop().await?;
    Ok(Run {
        name: T::NAME,
        heard,
        tally,
        connections,
        backends_saw: seen.load(Ordering::Relaxed),
        exported,
        elapsed,
        cpu: None,
    })
}

/// A gateway and its backends.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) gateway: Server,
    backends: Vec<Server>,
    tally: Arc<Tally>,
    /// Calls that reached a backend.
    seen: Arc<AtomicU64>,
}

impl Service {
    pub(crate) fn start<T: Timers>(
        plan: Plan,
        address: SocketAddr,
        exporter: &Exporter,
    ) -> Result<Self> {
        let seen = Arc::<AtomicU64>::default();
        let backends: Vec<_> = (0..plan.backends)
            .map(|_| {
                let routes = backend::routes::<T>(plan, seen.clone());
                Server::start::<T>(ANYWHERE, routes, BACKEND_HEAD)
            })
            .collect::<Result<_>>()?;
        let upstream = Upstream::new::<T>(backends.iter().map(Server::address).collect());
        let tally = Arc::<Tally>::default();
        let routes = gateway::routes::<T>(upstream, plan, tally.clone(), exporter);
        let gateway = Server::start::<T>(address, routes, plan.head_timeout)?;
        Ok(Service {
            gateway,
            backends,
            tally,
            seen,
        })
    }

    /// What became of the gateway's connections.
    pub(crate) async fn stop(self) -> Result<Connections> {
        // The gateway first: its pool holds connections to the backends.
        let connections = self.gateway.stop().await?;
        for backend in self.backends {
            backend.stop().await?;
        }
        Ok(connections)
    }
}

async fn exported<T: Timers>(gateway: SocketAddr) -> Result<Exported> {
    let page = client::page(gateway, "/metrics").await?;
    let find = |name| exporter::value(&page, name, T::NAME);
    let value = |name| find(name).with_context(|| format!("{name} is not in /metrics"));
    let timers = match T::reporter() {
        Some(_) => Some(TimerCounts {
            registered: value("wheel_timers_registered_total")?,
            fired: value("wheel_timers_fired_total")?,
            cancelled: value("wheel_timers_cancelled_total")?,
            active: value("wheel_active_timers")?,
        }),
        None => None,
    };
    Ok(Exported {
        requests: value(exporter::REQUESTS)?,
        call_timeouts: value(exporter::CALL_TIMEOUTS)?,
        timers,
    })
}

/// Runs every client; the first failure drops, and so closes, the others.
pub(crate) async fn run_clients(
    gateway: SocketAddr,
    plan: Plan,
    progress: ProgressBar,
) -> Result<Heard> {
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

/// Draws to stderr, and only where that is a terminal.
fn progress_bar(name: &'static str, requests: u64) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{prefix:11} {wide_bar} {human_pos}/{human_len} requests");
    let bar = ProgressBar::new(requests).with_prefix(name);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}
