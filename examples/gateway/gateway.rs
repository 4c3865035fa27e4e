//! The gateway: asks all backends for every request, and answers with what came in time.

use std::sync::Arc;

use anyhow::Result;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::get;
use futures::stream::{FuturesUnordered, StreamExt};

use crate::plan::Plan;
use crate::stack::Stack;
use crate::tally::{Count, Tally};
use crate::upstream::Upstream;

#[derive(Debug)]
struct Gateway {
    upstream: Upstream,
    plan: Plan,
    tally: Arc<Tally>,
    /// What the next request is that has no number of its own.
    next: Count,
}

type Answer = Result<String, (StatusCode, String)>;

/// `/requests/{number}`, and `/` for load that knows no numbers.
pub(crate) fn routes<T: Stack>(upstream: Upstream, plan: Plan, tally: Arc<Tally>) -> Router {
    let gateway = Gateway {
        upstream,
        plan,
        tally,
        next: Count::default(),
    };
    let requests = Router::new()
        .route("/", get(next::<T>))
        .route("/requests/{number}", get(numbered::<T>))
        .with_state(Arc::new(gateway));
    T::limit(requests, plan.request_timeout())
}

async fn next<T: Stack>(State(gateway): State<Arc<Gateway>>) -> Answer {
    let number = gateway.next.add(1);
    gateway.answer::<T>(number).await
}

async fn numbered<T: Stack>(
    State(gateway): State<Arc<Gateway>>,
    Path(number): Path<u64>,
) -> Answer {
    gateway.answer::<T>(number).await
}

impl Gateway {
    async fn answer<T: Stack>(&self, request: u64) -> Answer {
        self.tally.requests.add(1);
        let answered = self.fan_out::<T>(request).await;
        let answered =
            answered.map_err(|error| (StatusCode::BAD_GATEWAY, format!("{error:#}\n")))?;
        self.tally.answered.add(answered);
        Ok(format!("{answered}\n"))
    }

    /// How many backends have answered.
    async fn fan_out<T: Stack>(&self, request: u64) -> Result<u64> {
        let Gateway { plan, tally, .. } = self;
        let mut calls: FuturesUnordered<_> = Plan::calls_of(request)
            .zip(&*self.upstream.backends)
            .map(|(number, &backend)| self.upstream.call::<T>(backend, number, plan, tally))
            .collect();
        let mut answered = 0;
        while let Some(in_time) = calls.next().await {
            answered += u64::from(in_time?);
        }
        Ok(answered)
    }
}
