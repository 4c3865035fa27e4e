//! Which timers stay with tokio, and the names of types.

use std::any::type_name;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, Sleep, sleep, timeout};

fn armed() -> u64 {
    tokio::wheel::metrics().snapshot().armed
}

#[tokio::test]
async fn timers_of_tokio_time_are_the_wheels() {
    sleep(Duration::from_millis(1)).await;
    let before = armed();
    sleep(Duration::from_millis(50)).await;
    let none = timeout(Duration::from_millis(50), std::future::pending::<()>()).await;
    assert!(none.is_err());
    assert_eq!(armed() - before, 2);
}

/// `send_timeout` is tokio's own method, so it uses tokio's own timer, on the same clock. Where many of
/// them are armed, put a timeout around `send` instead.
#[tokio::test(start_paused = true)]
async fn send_timeout_stays_on_tokios_and_a_timeout_around_send_is_the_wheels() {
    const SHORT: Duration = Duration::from_millis(10);
    sleep(SHORT).await;
    let (sender, _receiver) = mpsc::channel(1);
    sender.send(1).await.unwrap();

    let (before, start) = (armed(), Instant::now());
    assert!(sender.send_timeout(2, SHORT).await.is_err());
    assert_eq!(start.elapsed(), SHORT);
    assert_eq!(armed(), before, "not ours");

    assert!(timeout(SHORT, sender.send(2)).await.is_err());
    assert_eq!(armed() - before, 1);
}

#[test]
fn types_are_the_wheels_except_instants_and_durations() {
    assert_eq!(type_name::<Sleep>(), "wheel::sleep::Sleep");
    assert!(type_name::<tokio::time::error::Elapsed>().starts_with("wheel::"));
    assert!(type_name::<Instant>().starts_with("tokio::"));
    assert!(type_name::<tokio::time::Duration>() == type_name::<Duration>());
}

/// `Box::pin` and `pin!` are no longer needed, and do no harm.
#[test]
fn a_sleep_is_unpin() {
    fn unpin<T: Unpin>() {}
    unpin::<Sleep>();
}
