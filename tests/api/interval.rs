//! An `Interval` accepts the longest durations. The random programs of `tests/as_tokio/random/` test its ticks, resets and
//! missed ticks.
#![cfg(feature = "test-util")]

use support::prelude::*;

use tokio_test::{assert_pending, task};
use wheel::interval;

#[tokio::test(start_paused = true)]
async fn intervals_accept_the_longest_durations() {
    let mut long = interval(Duration::MAX);
    let theirs = tokio::time::interval(Duration::MAX);
    assert_eq!(long.period(), theirs.period());
    long.tick().await;
    long.reset();
    long.reset_after(Duration::MAX);
    assert_pending!(task::spawn(long.tick()).poll());
    long.reset_immediately();
    long.tick().await;
}
