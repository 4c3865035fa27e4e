//! A backend: answers a call at once, after a while or never, as the plan has it.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::get;

use crate::plan::{Fate, Plan, SLOW};
use crate::stack::Stack;
use crate::tally::Tally;

/// The routes of all backends.
pub(crate) fn routes<T: Stack>(plan: Plan, tally: Arc<Tally>) -> Router {
    Router::new()
        .route("/calls/{number}", get(answer::<T>))
        .with_state((plan, tally))
}

async fn answer<T: Stack>(
    State((plan, tally)): State<(Plan, Arc<Tally>)>,
    Path(call): Path<u64>,
) -> &'static str {
    tally.seen.add(1);
    match plan.fate(call) {
        Fate::Fast => {}
        Fate::Slow => T::sleep(SLOW).await,
        Fate::Never => std::future::pending().await,
    }
    "here you are"
}
