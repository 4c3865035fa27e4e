//! The gateway under as much load as it can take, for programs that measure: no call is slow, and no timer fires.

use std::sync::OnceLock;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use indicatif::ProgressBar;

use crate::exporter::Exporter;
use crate::plan::{Plan, Share};
use crate::run::{ANYWHERE, Service, run_clients, runtime};
use crate::timers::{Timers, Tokio, Wheel};

pub use crate::options::Side;

/// How many clients send how much.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Of the runtime on which all of it runs.
    pub workers: usize,
    /// Each sends its next request when the last is answered.
    pub connections: u64,
    /// Of each connection.
    pub requests: u64,
    /// Of one call; a request may take twice as long, and a head four times. Longer than the machine ever stands still, since
    /// a timer that fires is a failure.
    pub limit: Duration,
}

impl Load {
    /// Plays an eighth, calls `mark`, plays all, and calls `mark` again. Returns how many requests were answered between the
    /// marks.
    pub fn play(self, side: Side, mark: impl FnMut()) -> Result<u64> {
        let runtime = runtime(self.workers)?;
        match side {
            Side::Tokio => runtime.block_on(self.serve::<Tokio>(mark)),
            Side::Wheel => runtime.block_on(self.serve::<Wheel>(mark)),
        }
    }

    async fn serve<T: Timers>(self, mut mark: impl FnMut()) -> Result<u64> {
        let plan = self.plan(self.requests);
        let service = Service::start::<T>(plan, ANYWHERE, exporter()?)?;
        let gateway = service.gateway.address();
        let warm_up = self.plan(self.requests.div_ceil(8));
        run_clients(gateway, warm_up, ProgressBar::hidden()).await?;
        mark();
        let heard = run_clients(gateway, plan, ProgressBar::hidden()).await?;
        mark();
        service.stop().await?;
        ensure!(heard.partial + heard.late == 0, "a timer has fired");
        Ok(heard.requests)
    }

    fn plan(self, requests: u64) -> Plan {
        Plan {
            connections: self.connections,
            requests,
            backends: 4,
            never: Share::NONE,
            never_or_slow: Share::NONE,
            silent: Share::NONE,
            slow_delay: Duration::ZERO,
            call_timeout: self.limit,
            request_timeout: 2 * self.limit,
            head_timeout: 4 * self.limit,
        }
    }
}

/// A process has one.
fn exporter() -> Result<&'static Exporter> {
    static EXPORTER: OnceLock<Option<Exporter>> = OnceLock::new();
    let exporter = EXPORTER.get_or_init(|| Exporter::install().ok());
    exporter.as_ref().context("another recorder is installed")
}

/// The processor time of the whole process so far.
#[must_use]
pub fn cpu_time() -> Option<Duration> {
    common::process::cpu_time()
}
