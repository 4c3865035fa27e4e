//! The gateway under as much load as it can take, for programs that measure: no call is slow, and no timer fires.

use std::time::Duration;

use anyhow::{Result, ensure};

use crate::client;
use crate::plan::Plan;
use crate::run::{ANYWHERE, Service, runtime};
use crate::stack::Stack;

/// How many clients send how much.
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
    pub fn play<T: Stack>(self, mark: impl FnMut()) -> Result<u64> {
        runtime(self.workers)?.block_on(self.serve::<T>(mark))
    }

    async fn serve<T: Stack>(self, mut mark: impl FnMut()) -> Result<u64> {
        let service = Service::start::<T>(self.plan(self.requests), ANYWHERE)?;
        let gateway = service.gateway.address();
        client::run_all(gateway, self.plan(self.requests.div_ceil(8))).await?;
        mark();
        let heard = client::run_all(gateway, self.plan(self.requests)).await?;
        mark();
        service.stop().await?;
        ensure!(heard.partial + heard.late == 0, "a timer has fired");
        Ok(heard.requests())
    }

    fn plan(self, requests: u64) -> Plan {
        Plan {
            connections: self.connections,
            requests,
            is_calm: true,
            call_timeout: self.limit,
        }
    }
}
