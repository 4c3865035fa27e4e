//! Wakers are told apart.

use super::*;
use std::sync::Arc;
use std::task::Wake;

struct Nobody;
impl Wake for Nobody {
    fn wake(self: Arc<Self>) {}
}

#[test]
fn a_vtable_keeps_its_number_and_no_other_has_it() {
    let noop = Waker::noop();
    let arc = Waker::from(Arc::new(Nobody));
    assert_eq!(id(noop), id(noop));
    assert_ne!(id(noop), id(&arc));
    assert!(is(&arc, id(&arc)));
    assert!(!is(&arc, id(noop)));
    assert!(!is(&arc, NONE));
}

#[cfg(not(loom))]
#[tokio::test]
async fn a_task_is_known_by_its_waker_before_any_driver_has_run() {
    learn_from_a_task();
    let known = poll_fn(|cx| Poll::Ready(id(cx.waker()) == OF_TASKS));
    assert!(!known.await, "the waker of `block_on`");
    let known = poll_fn(|cx| Poll::Ready(id(cx.waker()) == OF_TASKS));
    assert!(tokio::spawn(known).await.unwrap());
    assert_ne!(id(Waker::noop()), OF_TASKS);
}
