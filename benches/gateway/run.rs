//! One run: a fresh runtime with backends, a gateway and clients.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use common::process::cpu_time;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use crate::client::{self, Latency};
use crate::plan::{BACKENDS, Plan, Tally};
use crate::server::Stack;
use crate::{gateway, server};

/// A free port of this machine.
const ANYWHERE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
/// Much longer than the gateway keeps a connection to a backend that it does not use.
const BACKEND_HEAD: Duration = Duration::from_secs(600);
/// Much longer than a run takes.
const GIVE_UP: Duration = Duration::from_secs(150);

/// How many clients send how much.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Of the runtime on which all of it runs.
    pub workers: usize,
    /// Each sends its next request when the last is answered.
    pub connections: u64,
    /// Of each connection.
    pub requests: u64,
    /// Of one call; a request may take four times as long, and a head eight times. For programs that measure, longer than the
    /// machine ever stands still, since a timer that fires is a failure.
    pub limit: Duration,
}

impl Load {
    /// For programs that measure: no call is slow, and no timer fires. Plays an eighth, calls `mark`, plays all, and calls `mark` again. Returns how many requests were answered between the
    /// marks.
    pub fn play<T: Stack>(self, mut mark: impl FnMut()) -> Result<u64> {
        let tally = Arc::<Tally>::default();
        let plan = |requests| Plan {
            load: Load { requests, ..self },
            is_calm: true,
            tally: Arc::clone(&tally),
        };
        let (few, all) = (plan(self.requests.div_ceil(8)), plan(self.requests));
        let (latency, _) = runtime(self.workers)?.block_on(async {
            let gateway = start::<T>(&all, ANYWHERE)?;
            client::run_all(gateway, &few).await?;
            mark();
            let heard = client::run_all(gateway, &all).await;
            mark();
            heard
        })?;
        ensure!(tally.partial.get() == 0, "a timer has fired");
        Ok(latency.len())
    }
}

/// What a run came to, as each of the parties saw it.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) side: &'static str,
    pub(crate) plan: Plan,
    pub(crate) latency: Latency,
    pub(crate) took: Duration,
    pub(crate) cpu: Option<Duration>,
}

pub(crate) fn run<T: Stack>(load: Load) -> Result<Run> {
    let before = cpu_time();
    let plan = Plan::of(load);
    let work = async { client::run_all(start::<T>(&plan, ANYWHERE)?, &plan).await };
    let runtime = runtime(load.workers)?;
    // Always on tokio's own timer: it is there to notice that the other one has lost a wake-up.
    let ended = runtime.block_on(async { timeout(GIVE_UP, work).await });
    let ended = ended.context("a timer was lost, or this is too much work");
    let (latency, took) = ended.and_then(|all| all).context(T::NAME)?;
    drop(runtime);
    let spent = cpu_time().zip(before);
    Ok(Run {
        side: T::NAME,
        plan,
        latency,
        took,
        cpu: spent.map(|(after, before)| after - before),
    })
}

pub(crate) fn runtime(workers: usize) -> Result<Runtime> {
    let builder = &mut Builder::new_multi_thread();
    Ok(builder.worker_threads(workers).enable_all().build()?)
}

/// Starts a gateway and its backends in this runtime, and says where the gateway is.
pub(crate) fn start<T: Stack>(plan: &Plan, address: SocketAddr) -> Result<SocketAddr> {
    let backend = |_| {
        let routes = gateway::calls::<T>(plan.is_calm);
        server::start::<T>(ANYWHERE, routes, BACKEND_HEAD, Arc::default())
    };
    let backends = (0..BACKENDS).map(backend).collect::<Result<_>>()?;
    let routes = gateway::routes::<T>(backends, plan.clone());
    let tally = Arc::clone(&plan.tally);
    server::start::<T>(address, routes, plan.head_timeout(), tally)
}
