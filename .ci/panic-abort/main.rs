//! A timer fires. Then the waker of another one panics, which has to abort the process.

use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use wheel::Duration;

struct Panics;

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        panic!("a waker panics");
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let limit = Duration::from_millis(1);
    wheel::timeout(limit, pending::<()>()).await.unwrap_err();
    println!("a timer fired");

    let mut sleep = pin!(wheel::sleep(limit));
    let waker = Waker::from(Arc::new(Panics));
    let polled = sleep.as_mut().poll(&mut Context::from_waker(&waker));
    assert!(polled.is_pending());
    wheel::sleep(Duration::from_secs(1)).await;
    println!("the process was not aborted");
}
