//! A package that also depends on this crate from the registry has a second copy of it, whose tokio is
//! the tree's. Both copies work, each with a driver, counts and types of its own.

use std::any::TypeId;
use std::future::pending;
use std::time::Duration;

use tokio::runtime::Handle;

const SHORT: Duration = Duration::from_millis(50);

#[tokio::test]
async fn both_fire_in_one_runtime_and_each_counts_its_own() {
    tokio::time::sleep(SHORT).await;
    assert!(tokio::time::timeout(SHORT, pending::<()>()).await.is_err());
    wheel::sleep(SHORT).await;
    assert!(wheel::timeout(SHORT, pending::<()>()).await.is_err());
    let drivers = Handle::current().metrics().num_alive_tasks();
    assert_eq!(drivers, 2, "a driver each");
    assert_eq!(wheel::metrics().snapshot().armed, 2);
    let inner = tokio::wheel::metrics().snapshot().armed;
    assert!(
        inner > 2,
        "the outer driver's alarm is a timer of the inner one"
    );
}

#[tokio::test(start_paused = true)]
async fn both_follow_a_paused_clock() {
    let start = tokio::time::Instant::now();
    wheel::sleep(Duration::from_millis(10)).await;
    tokio::time::sleep(Duration::from_millis(10)).await;
    assert_eq!(start.elapsed(), Duration::from_millis(20));
}

/// The remedy is to use the tree's copy, `tokio::wheel`. A package that depends on
/// `tokio-wheel-whole-tree` gets the same one, and may turn on features that `tokio::wheel` lacks.
#[test]
fn each_has_its_error_and_the_trees_copy_can_be_named() {
    let times = TypeId::of::<tokio::time::error::Elapsed>();
    assert_ne!(TypeId::of::<wheel::error::Elapsed>(), times);
    assert_eq!(TypeId::of::<tokio::wheel::error::Elapsed>(), times);
    assert_eq!(TypeId::of::<tree::error::Elapsed>(), times);
    let _ = tree::ext::tower::TimeoutLayer::new(SHORT);
}
