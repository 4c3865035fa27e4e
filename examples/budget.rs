//! A time budget for a request: what is passed down is the deadline rather than a duration, so each call on the
//! request's behalf has the time that is left. gRPC does the same with its deadlines.
//!
//! `cargo run --example budget`

use std::future::pending;

use wheel::error::Elapsed;
use wheel::{Duration, Instant, sleep, timeout_at};

/// Passes the deadline on as an argument, which nobody can forget.
async fn page(deadline: Instant) -> Result<String, Elapsed> {
    let user = timeout_at(deadline, user()).await?;
    // The price may take half of the time that is left, so that there is time to answer without it.
    let half = Instant::now() + deadline.saturating_duration_since(Instant::now()) / 2;
    match timeout_at(half, price()).await {
        Ok(price) => Ok(format!("{user}, it costs {price}")),
        Err(_) => Ok(format!("{user}, ask again for the price")),
    }
}

tokio::task_local! {
    /// For clients deep inside, if the functions in between cannot pass an argument on.
    ///
    /// A spawned task does not inherit it: `tokio::spawn(DEADLINE.scope(deadline, …))`.
    static DEADLINE: Instant;
}

async fn query() -> Result<u32, Elapsed> {
    let deadline = DEADLINE.try_with(|deadline| *deadline);
    let deadline = deadline.unwrap_or_else(|_| Instant::now() + Duration::from_secs(1));
    timeout_at(deadline, price()).await
}

async fn user() -> &'static str {
    sleep(Duration::from_millis(1)).await;
    "hello"
}

/// A backend that never answers.
async fn price() -> u32 {
    pending().await
}

#[tokio::main]
async fn main() {
    let start = Instant::now();
    let deadline = start + Duration::from_millis(100);
    let page = page(deadline).await;
    println!("after {:?}: {page:?}", start.elapsed());
    let answer = DEADLINE.scope(deadline, query()).await;
    println!("after {:?}: {answer:?}", start.elapsed());
}
