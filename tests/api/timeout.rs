//! A `Timeout` gives a future no more than its time, however long that is.
#![cfg(feature = "test-util")]

use support::prelude::*;

use std::future::pending;

use tokio_test::{assert_pending, task};
use wheel::advance;

#[tokio::test(start_paused = true)]
async fn a_timeout_can_be_polled_on_after_it_has_elapsed() {
    let (tx, rx) = tokio::sync::oneshot::channel();
    let mut late = timeout(ms(10), rx);
    assert!((&mut late).await.is_err());
    assert!((&mut late).await.is_err());
    tx.send(5).unwrap();
    assert_eq!((&mut late).await, Ok(Ok(5)));
}

#[tokio::test(start_paused = true)]
async fn a_very_long_timeout_never_elapses() {
    let mut never = task::spawn(timeout(Duration::MAX, pending::<()>()));
    assert_pending!(never.poll());
    advance(secs(10 * 365 * 24 * 3600)).await;
    assert_pending!(never.poll());
}

#[test]
fn a_future_that_burns_the_budget_does_not_outlive_its_timeout() {
    async fn burning() {
        loop {
            coop::consume_budget().await;
        }
    }
    for (name, runtime) in support::runtimes() {
        let late = runtime.spawn(async { timeout(ms(10), burning()).await });
        assert!(runtime.block_on(late).unwrap().is_err(), "{name}");
    }
}
