//! One run: a fresh runtime, backends, a gateway and clients, all ended before it returns.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use common::{Side, println, process};
use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, timeout};

use crate::client::{self, Heard};
use crate::plan::{BACKENDS, Plan};
use crate::server::{Connections, Server};
use crate::stack::Stack;
use crate::tally::Tally;
use crate::upstream::Upstream;
use crate::{Options, backend, gateway};

/// A free port of this machine.
pub(crate) const ANYWHERE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Much longer than the gateway keeps a connection to a backend that it does not use.
const BACKEND_HEAD: Duration = Duration::from_secs(600);

/// What a run came to, as each of the parties saw it.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) side: Side,
    pub(crate) heard: Heard,
    pub(crate) tally: Arc<Tally>,
    pub(crate) connections: Connections,
    /// From the first connection to the last answer; silent clients are not waited for here.
    pub(crate) elapsed: Duration,
    pub(crate) cpu: Option<Duration>,
}

pub(crate) fn run<T: Stack>(options: &Options) -> Result<Run> {
    let before = process::cpu_time();
    let runtime = runtime(options.workers())?;
    let plan = options.plan();
    // A millisecond for each request is more than any takes.
    let give_up = Duration::from_secs(120) + Duration::from_millis(plan.all_requests());
    let work = serve_all::<T>(plan);
    // Always on tokio's own timer: it is there to notice that the other one has lost a wake-up.
    let ended = runtime.block_on(async { timeout(give_up, work).await });
    drop(runtime);
    let mut run = ended.context("a timer was lost, or this is too much work")??;
    let spent = process::cpu_time().zip(before);
    run.cpu = spent.map(|(after, before)| after - before);
    Ok(run)
}

pub(crate) fn runtime(workers: usize) -> Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(workers).enable_all();
    Ok(builder.build()?)
}

async fn serve_all<T: Stack>(plan: Plan) -> Result<Run> {
    let service = Service::start::<T>(plan, ANYWHERE)?;
    let address = service.gateway.address();
    let started = Instant::now();
    let heard = client::run_all(address, plan).await?;
    Ok(Run {
        side: T::SIDE,
        elapsed: heard.finished - started,
        heard,
        tally: service.tally.clone(),
        connections: service.stop().await?,
        cpu: None,
    })
}

/// A gateway and its backends, for load from outside.
pub(crate) fn serve<T: Stack>(
    options: &Options,
    address: SocketAddr,
) -> Result<(Runtime, Service)> {
    let runtime = runtime(options.workers())?;
    let service = runtime.block_on(async { Service::start::<T>(options.plan(), address) })?;
    let (side, address) = (T::SIDE.name(), service.gateway.address());
    println!("{side}: wrk -t2 -c64 -d10s --latency http://{address}/");
    Ok((runtime, service))
}

/// A gateway and its backends.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) gateway: Server,
    backends: Vec<Server>,
    tally: Arc<Tally>,
}

impl Service {
    pub(crate) fn start<T: Stack>(plan: Plan, address: SocketAddr) -> Result<Self> {
        let tally = Arc::<Tally>::default();
        let routes = || backend::routes::<T>(plan, tally.clone());
        let backends: Vec<_> = (0..BACKENDS)
            .map(|_| Server::start::<T>(ANYWHERE, routes(), BACKEND_HEAD))
            .collect::<Result<_>>()?;
        let upstream = Upstream::new::<T>(backends.iter().map(Server::address).collect());
        let routes = gateway::routes::<T>(upstream, plan, tally.clone());
        let gateway = Server::start::<T>(address, routes, plan.head_timeout())?;
        Ok(Service {
            gateway,
            backends,
            tally,
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
