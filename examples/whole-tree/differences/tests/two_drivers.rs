//! A package that depends on this crate from the registry too has a second copy of it, whose
//! tokio is the tree's. Both work; each has its driver, its counts and its types.

use std::any::TypeId;
use std::future::pending;
use std::time::Duration;

use tokio::runtime::Handle;

const SHORT: Duration = Duration::from_millis(1);

#[tokio::test]
async fn both_fire_in_one_runtime() {
    tokio::time::sleep(SHORT).await;
    wheel::sleep(SHORT).await;
    assert!(tokio::time::timeout(SHORT, pending::<()>()).await.is_err());
    assert!(wheel::timeout(SHORT, pending::<()>()).await.is_err());
    assert_eq!(
        Handle::current().metrics().num_alive_tasks(),
        2,
        "a driver each"
    );
}

#[tokio::test(start_paused = true)]
async fn both_follow_a_paused_clock() {
    let start = tokio::time::Instant::now();
    wheel::sleep(Duration::from_millis(10)).await;
    tokio::time::sleep(Duration::from_millis(10)).await;
    assert_eq!(start.elapsed(), Duration::from_millis(20));
}

#[tokio::test]
async fn each_counts_its_own() {
    wheel::sleep(SHORT).await;
    let (outer, inner) = (
        wheel::metrics().snapshot(),
        tokio::wheel::metrics().snapshot(),
    );
    assert_eq!(outer.registered, 1);
    assert!(
        inner.registered >= 1,
        "the outer driver's alarm is a timer of the inner one"
    );
}

#[test]
fn each_has_its_error() {
    let (outer, inner) = (
        TypeId::of::<wheel::error::Elapsed>(),
        TypeId::of::<tokio::time::error::Elapsed>(),
    );
    assert_ne!(outer, inner);
}

/// The cure: where the tree is, the tree's copy is at `tokio::wheel`; and a package that depends on
/// it by its own name has the same one.
#[test]
fn the_trees_copy_can_be_named() {
    let times = TypeId::of::<tokio::time::error::Elapsed>();
    assert_eq!(TypeId::of::<tokio::wheel::error::Elapsed>(), times);
    assert_eq!(TypeId::of::<tree::error::Elapsed>(), times);
}

/// And it may have features that `tokio::wheel` is without.
#[tokio::test]
async fn the_trees_copy_has_its_features() {
    let layer = tree::ext::tower::TimeoutLayer::new(SHORT);
    assert!(format!("{layer:?}").contains("TimeoutLayer"));
}
