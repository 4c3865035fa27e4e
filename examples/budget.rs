//! A time budget for a request: what is passed down is the deadline rather than a duration, so each
//! call on the request's behalf has the time that is left. gRPC does the same with its deadlines: a
//! header carries the time that is left from one service to the next, and a layer reads it.
//!
//! `cargo run --example budget --features tower`

use std::future::pending;

use http::{Request, Response, StatusCode};
use tower::{Layer as _, ServiceExt as _, service_fn};
use wheel::error::Elapsed;
use wheel::ext::tower::TimeoutLayer;
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
    /// A spawned task lacks it: use `tokio::spawn(DEADLINE.scope(deadline, …))`.
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

/// Returns the time that the caller gives this request: the `grpc-timeout` header in milliseconds,
/// such as `20m`. gRPC has other units, too, which this ignores. A request without the header has
/// no timeout.
fn granted(request: &Request<()>) -> Option<Duration> {
    let header = request.headers().get("grpc-timeout")?.to_str().ok()?;
    let millis = header.strip_suffix('m')?.parse().ok()?;
    Some(Duration::from_millis(millis))
}

/// Answers with the price, which takes forever.
async fn serve(_: Request<()>) -> Result<Response<String>, Elapsed> {
    Ok(Response::new(price().await.to_string()))
}

/// Calls another service, and tells it how much time is left.
async fn call(deadline: Instant) -> Result<StatusCode, Elapsed> {
    let layer = TimeoutLayer::with_status_code_by(StatusCode::GATEWAY_TIMEOUT, granted);
    let left = deadline.saturating_duration_since(Instant::now());
    let mut request = Request::new(());
    let header = format!("{}m", left.as_millis()).parse();
    request
        .headers_mut()
        .insert("grpc-timeout", header.expect("digits and a letter"));
    let answer = layer.layer(service_fn(serve)).oneshot(request).await?;
    Ok(answer.status())
}

#[tokio::main]
async fn main() {
    let start = Instant::now();
    let deadline = start + Duration::from_millis(100);
    let page = page(deadline).await;
    println!("after {:?}: {page:?}", start.elapsed());
    let answer = DEADLINE.scope(deadline, query()).await;
    println!("after {:?}: {answer:?}", start.elapsed());
    let answer = call(start + Duration::from_millis(150)).await;
    println!("after {:?}: {answer:?}", start.elapsed());
}
