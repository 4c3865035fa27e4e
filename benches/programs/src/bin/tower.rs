//! A client's stack of tower's layers around a service behind channels: a timeout of 5 s, a hedge that sends a second
//! request after 50 ms, retries, and a timeout of 1 s per attempt. Each caller has a stack, because `Hedge` is not `Clone`.

use std::future::{Ready, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Duration;

use anyhow::{Result, ensure};
use load::channels::{Server, servers};
use load::{CALLERS, Caller, LIMIT, Load, join, on_workers};
use tower::hedge::{self, Hedge};
use tower::retry::{self, Retry};
use tower::timeout::Timeout;
use tower::{BoxError, Service, ServiceExt as _};

#[derive(Clone)]
struct Channels(Arc<[Server]>);

impl Service<u64> for Channels {
    type Response = u64;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<u64, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, number: u64) -> Self::Future {
        let answer = self.0[number as usize % self.0.len()].call(number);
        Box::pin(async { Ok(answer.await?) })
    }
}

/// Number of further attempts.
#[derive(Clone)]
struct Attempts(usize);

impl retry::Policy<u64, u64, BoxError> for Attempts {
    type Future = Ready<()>;

    fn retry(&mut self, _: &mut u64, result: &mut Result<u64, BoxError>) -> Option<Ready<()>> {
        if result.is_ok() {
            return None;
        }
        self.0 = self.0.checked_sub(1)?;
        Some(ready(()))
    }

    fn clone_request(&mut self, request: &u64) -> Option<u64> {
        Some(*request)
    }
}

/// Counts the second requests that the hedge sends.
#[derive(Clone, Default)]
struct Hedged(Arc<AtomicU64>);

impl hedge::Policy<u64> for Hedged {
    fn clone_request(&self, request: &u64) -> Option<u64> {
        Some(*request)
    }

    fn can_retry(&self, _: &u64) -> bool {
        self.0.fetch_add(1, Relaxed);
        true
    }
}

fn main() -> Result<()> {
    on_workers(async |seconds| {
        let [load, served] = [(); 2].map(|()| Load::new(CALLERS));
        let hedged = Hedged::default();
        let (servers, serving) = servers(served.counters());
        let channels = Channels(servers.into());
        let tasks = load.spawn(|caller| calls(caller, channels.clone(), hedged.clone()));
        let done = load.run(seconds, tasks).await?;
        drop(channels);
        join(serving).await?;
        // If the machine stops for 50 ms, second requests are sent.
        let (served, hedged) = (served.total(), hedged.0.load(Relaxed));
        ensure!(
            served == done + hedged,
            "{done} + {hedged} requests were sent, and {served} were served"
        );
        Ok(())
    })
}

async fn calls(mut caller: Caller, channels: Channels, hedged: Hedged) {
    let attempts = Retry::new(Attempts(2), Timeout::new(channels, LIMIT));
    // The delay is a percentile of the recorded latencies (milliseconds), which stay for an hour.
    let hour = Duration::from_secs(3600);
    let hedge = Hedge::new_with_mock_latencies(attempts, hedged, 10, 0.9, hour, &[50; 100]);
    let mut stack = Timeout::new(hedge, 5 * LIMIT);
    while let Some(number) = caller.next().await {
        let stack = stack.ready().await.expect("a stack that is ready");
        let answer = stack.call(number).await;
        assert_eq!(answer.expect("an answer in time"), number + 1);
    }
}
