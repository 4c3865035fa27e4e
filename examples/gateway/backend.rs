//! A backend: answers a call at once, after a while or never, as the plan has it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::get;

use crate::plan::{Fate, Plan};
use crate::timers::Timers;

#[derive(Clone, Debug)]
struct Backend {
    plan: Plan,
    seen: Arc<AtomicU64>,
}

/// The routes of all backends; `seen` counts the calls that come.
pub(crate) fn routes<T: Timers>(plan: Plan, seen: Arc<AtomicU64>) -> Router {
    Router::new()
        .route("/calls/{number}", get(answer::<T>))
        .with_state(Backend { plan, seen })
}

async fn answer<T: Timers>(State(backend): State<Backend>, Path(call): Path<u64>) -> &'static str {
    backend.seen.fetch_add(1, Ordering::Relaxed);
    match backend.plan.fate(call) {
        Fate::Fast => {}
        Fate::Slow => T::sleep(backend.plan.slow_delay).await,
        Fate::Never => std::future::pending().await,
    }
    "here you are"
}
