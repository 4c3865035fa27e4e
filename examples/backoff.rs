//! Time between attempts: a jittered interval, a back-off with full jitter, and a hedged request.
//!
//! The crates backon and tower have retries as a library, and can run on these timers.
//!
//! `cargo run --example backoff`

use std::future::pending;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};

use wheel::error::Elapsed;
use wheel::{Duration, Instant, Interval, interval_at, sleep, timeout, timeout_at};

/// Ticks at a random time within the first period, and once per period after that, so that
/// instances that start together do not ask a backend together.
fn spread(period: Duration) -> Interval {
    interval_at(Instant::now() + period.mul_f64(rand::random()), period)
}

/// Calls until there is an answer or the deadline passes. Each attempt has a timeout of its own.
///
/// The longest pause doubles each time and the pause is random below it: *full jitter*, from
/// Amazon's article "Exponential backoff and jitter".
async fn retry<T, E>(
    deadline: Instant,
    call: impl AsyncFn() -> Result<T, E>,
) -> Result<T, Elapsed> {
    let mut longest = Duration::from_millis(10);
    let attempts = async {
        loop {
            if let Ok(Ok(answer)) = timeout(Duration::from_millis(100), call()).await {
                return answer;
            }
            sleep(longest.mul_f64(rand::random())).await;
            longest = (2 * longest).min(Duration::from_secs(1));
        }
    };
    timeout_at(deadline, attempts).await
}

/// Calls a second time if the first answer is late, and takes whichever answer comes first (Dean
/// and Barroso, *The Tail at Scale*). Only for requests that may be executed twice.
async fn hedge<T>(after: Duration, call: impl AsyncFn() -> T) -> T {
    let mut first = pin!(call());
    if let Ok(answer) = timeout(after, first.as_mut()).await {
        return answer;
    }
    tokio::select! {
        answer = first => answer,
        answer = call() => answer,
    }
}

#[tokio::main]
async fn main() {
    let start = Instant::now();
    let mut refresh = spread(Duration::from_millis(20));
    for _ in 0..3 {
        refresh.tick().await;
        println!("{:?}: refresh", start.elapsed());
    }

    // A backend that refuses the first call, never answers the second, and answers the third.
    let calls = AtomicU32::new(0);
    let backend = async || match calls.fetch_add(1, Ordering::Relaxed) {
        0 => Err("refused"),
        1 => pending().await,
        _ => Ok(42),
    };
    let answer = retry(start + Duration::from_secs(10), backend).await;
    println!("{:?}: {answer:?} after three attempts", start.elapsed());

    calls.store(1, Ordering::Relaxed);
    let answer = hedge(Duration::from_millis(5), backend).await;
    println!("{:?}: {answer:?} from the hedge", start.elapsed());
}
