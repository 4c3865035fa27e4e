//! One run: a fresh runtime with backends, a gateway and clients.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use common::process::cpu_time;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use crate::client::{self, Heard};
use crate::gateway;
use crate::plan::{BACKENDS, Plan, Tally};
use crate::server::Server;
use crate::stack::Stack;

/// A free port of this machine.
const ANYWHERE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
/// Much longer than the gateway keeps a connection to a backend that it does not use.
const BACKEND_HEAD: Duration = Duration::from_secs(600);
/// Much longer than a run takes.
const GIVE_UP: Duration = Duration::from_secs(150);

/// How many clients send how much. For programs that measure: as much as the gateway can take, no call is slow, and no
/// timer fires.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Of the runtime on which all of it runs.
    pub workers: usize,
    /// Each sends its next request when the last is answered.
    pub connections: u64,
    /// Of each connection.
    pub requests: u64,
    /// Of one call; a request may take four times as long, and a head eight times. Longer than the machine ever stands still,
    /// since a timer that fires is a failure.
    pub limit: Duration,
}

impl Load {
    /// Plays an eighth, calls `mark`, plays all, and calls `mark` again. Returns how many requests were answered between the
    /// marks.
    pub fn play<T: Stack>(self, mut mark: impl FnMut()) -> Result<u64> {
        let plan = |requests| Plan {
            load: Load { requests, ..self },
            is_calm: true,
        };
        let tally = Arc::<Tally>::default();
        let heard = runtime(self.workers)?.block_on(async {
            let gateway = start::<T>(plan(self.requests), ANYWHERE, &tally)?;
            client::run_all(gateway, plan(self.requests.div_ceil(8)), &tally).await?;
            mark();
            let heard = client::run_all(gateway, plan(self.requests), &tally).await;
            mark();
            heard
        })?;
        ensure!(tally.partial.get() == 0, "a timer has fired");
        Ok(heard.latency.len())
    }
}

/// What a run came to, as each of the parties saw it.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) side: &'static str,
    pub(crate) plan: Plan,
    pub(crate) heard: Heard,
    pub(crate) tally: Arc<Tally>,
    pub(crate) cpu: Option<Duration>,
}

impl Run {
    /// Those that were answered.
    pub(crate) fn requests(&self) -> u64 {
        self.heard.latency.len()
    }
}

pub(crate) fn run<T: Stack>(plan: Plan) -> Result<Run> {
    let before = cpu_time();
    let tally = Arc::<Tally>::default();
    let work = async {
        let gateway = start::<T>(plan, ANYWHERE, &tally)?;
        client::run_all(gateway, plan, &tally).await
    };
    let runtime = runtime(plan.load.workers)?;
    // Always on tokio's own timer: it is there to notice that the other one has lost a wake-up.
    let ended = runtime.block_on(async { timeout(GIVE_UP, work).await });
    let heard = ended.context("a timer was lost, or this is too much work")??;
    drop(runtime);
    let spent = cpu_time().zip(before);
    Ok(Run {
        side: T::NAME,
        plan,
        heard,
        tally,
        cpu: spent.map(|(after, before)| after - before),
    })
}

pub(crate) fn runtime(workers: usize) -> Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(workers).enable_all();
    Ok(builder.build()?)
}

/// Starts a gateway and its backends in this runtime, and says where the gateway is.
pub(crate) fn start<T: Stack>(
    plan: Plan,
    address: SocketAddr,
    tally: &Arc<Tally>,
) -> Result<SocketAddr> {
    let backend = |_| {
        let server = Server {
            routes: gateway::calls::<T>(plan),
            head_timeout: BACKEND_HEAD,
            tally: Arc::default(),
        };
        server.start::<T>(ANYWHERE)
    };
    let backends = (0..BACKENDS).map(backend).collect::<Result<_>>()?;
    let server = Server {
        routes: gateway::routes::<T>(backends, plan, Arc::clone(tally)),
        head_timeout: plan.head_timeout(),
        tally: Arc::clone(tally),
    };
    server.start::<T>(address)
}
