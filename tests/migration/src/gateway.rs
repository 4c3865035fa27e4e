//! A glob beside the crates whose names are those of features of timers.

use tokio::time::*;

use hyper::body::Bytes;
use tower::{BoxError, Service, ServiceBuilder, ServiceExt as _, service_fn};

pub async fn call(body: Bytes) -> Result<Bytes, BoxError> {
    metrics::counter!("calls").increment(1);
    let start = Instant::now();
    let echo = service_fn(async |body: Bytes| {
        sleep(Duration::from_millis(5)).await;
        Ok::<_, BoxError>(body)
    });
    let mut limited = ServiceBuilder::new()
        .layer(tower::timeout::TimeoutLayer::new(Duration::from_secs(1)))
        .service(echo);
    let answer = limited.ready().await?.call(body).await;
    metrics::histogram!("call_seconds").record(start.elapsed().as_secs_f64());
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_call_takes_as_long_as_it_takes() {
        let start = Instant::now();
        assert_eq!(call(Bytes::from_static(b"hello")).await.unwrap(), "hello");
        assert_eq!(start.elapsed(), Duration::from_millis(5));
        pause_is_on();
    }

    fn pause_is_on() {
        let again = std::panic::catch_unwind(pause);
        assert!(again.is_err());
    }
}
