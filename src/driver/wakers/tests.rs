//! Wakers are told apart.

use super::*;
use std::sync::Arc;
use std::task::Wake;

struct Nobody;
impl Wake for Nobody {
    fn wake(self: Arc<Self>) {}
}

fn number(waker: &Waker) -> VtableId {
    id(address(waker))
}

#[test]
fn a_vtable_keeps_its_number_and_no_other_has_it() {
    let noop = Waker::noop();
    let arc = Waker::from(Arc::new(Nobody));
    assert_eq!(number(noop), number(noop));
    assert_ne!(number(noop), number(&arc));
    assert!(is(&arc, number(&arc)));
    assert!(!is(&arc, number(noop)));
    assert!(!is(&arc, NONE));
}

#[cfg(not(loom))]
#[tokio::test]
async fn a_task_is_known_by_its_waker_before_any_driver_has_run() {
    learn_from_a_task();
    let known = poll_fn(|cx| Poll::Ready(number(cx.waker()) == OF_TASKS));
    assert!(!known.await, "the waker of `block_on`");
    let known = poll_fn(|cx| Poll::Ready(number(cx.waker()) == OF_TASKS));
    assert!(tokio::spawn(known).await.unwrap());
    assert_ne!(number(Waker::noop()), OF_TASKS);
}
