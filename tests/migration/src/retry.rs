//! Delays that double, a path inside a macro, and an error from a timeout.

use tokio::time::{self, error::Elapsed};

use crate::clock::Duration;

macro_rules! attempt {
    ($limit:expr, $call:expr) => {
        tokio::time::timeout($limit, $call).await
    };
}

#[derive(Debug)]
pub struct Late;

impl From<Elapsed> for Late {
    fn from(_: Elapsed) -> Self {
        Late
    }
}

pub async fn retry<T>(mut call: impl AsyncFnMut() -> T, attempts: u32) -> Result<T, Late> {
    let mut delay = Duration::from_millis(10);
    for _ in 1..attempts {
        if let Ok(done) = attempt!(Duration::from_millis(100), call()) {
            return Ok(done);
        }
        time::sleep(delay).await;
        delay *= 2;
    }
    Ok(attempt!(Duration::from_millis(100), call())?)
}

#[tokio::test(start_paused = true)]
async fn delays_double() {
    let start = time::Instant::now();
    let never = retry(async || std::future::pending::<()>().await, 3).await;
    assert!(never.is_err());
    assert_eq!(
        start.elapsed(),
        Duration::from_millis(100 + 10 + 100 + 20 + 100)
    );
    time::advance(Duration::from_secs(1)).await;
    assert_eq!(retry(async || 5, 3).await.unwrap(), 5);
}
