//! Written for tokio-wheel, with what tokio's types cannot do, and moved to tokio's timers with the
//! rest of the service.

use futures::{Stream, StreamExt as _};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use tokio::sync::mpsc;
use tower::{Service, ServiceBuilder};
use wheel::ext::hyper::WheelTimer;
use wheel::ext::tower::{Timeout, TimeoutLayer};
use wheel::ext::{FutureExt as _, StreamExt as _};
use wheel::{DelayQueue, Duration, Instant, error::Elapsed};

pub fn client() -> Client<HttpConnector, String> {
    Client::builder(TokioExecutor::new())
        .pool_timer(WheelTimer)
        .build_http()
}

pub fn limited<S: Service<u32>>(inner: S) -> Timeout<S> {
    let limit = TimeoutLayer::new(Duration::from_secs(1));
    ServiceBuilder::new().layer(limit).service(inner)
}

/// How many messages come until none has come for a second.
pub async fn until_idle(mut messages: mpsc::Receiver<u32>) -> usize {
    let second = Duration::from_secs(1);
    let mut idle = wheel::sleep(second);
    let mut count = 0;
    loop {
        tokio::select! {
            () = &mut idle => return count,
            Some(_) = messages.recv() => count += 1,
        }
        idle.reset_unpin(Instant::now() + second);
    }
}

/// The first of a stream, if that comes within a second.
pub async fn first<T>(items: impl Stream<Item = T>) -> Option<T> {
    let items = items.timeout(Duration::from_secs(1));
    futures::pin_mut!(items);
    items.next().await?.ok()
}

pub async fn in_time<T>(future: impl Future<Output = T>) -> Result<T, Elapsed> {
    future.timeout(Duration::from_secs(1)).await
}

pub async fn next(queue: &mut DelayQueue<&'static str>) -> Option<&'static str> {
    queue.next().await.map(|expired| expired.into_inner())
}

#[tokio::test(start_paused = true)]
async fn nothing_more_comes() {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        for n in 0..3 {
            wheel::sleep(Duration::from_millis(900)).await;
            sender.send(n).await.unwrap();
        }
        std::future::pending::<()>().await;
    });
    let start = Instant::now();
    assert_eq!(until_idle(receiver).await, 3);
    assert_eq!(start.elapsed(), Duration::from_millis(3 * 900 + 1000));
}

#[tokio::test(start_paused = true)]
async fn what_is_late_is_given_up() {
    assert_eq!(first(futures::stream::iter([1])).await, Some(1));
    assert_eq!(first(futures::stream::pending::<u32>()).await, None);
    assert!(in_time(std::future::pending::<()>()).await.is_err());
    let never = tower::service_fn(async |_: u32| -> Result<(), wheel::ext::tower::BoxError> {
        std::future::pending().await
    });
    assert!(limited(never).call(1).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_queue_is_in_order() {
    let mut queue = DelayQueue::new();
    queue.insert("later", Duration::from_secs(2));
    queue.insert("soon", Duration::from_secs(1));
    assert_eq!(next(&mut queue).await, Some("soon"));
    assert_eq!(next(&mut queue).await, Some("later"));
}
