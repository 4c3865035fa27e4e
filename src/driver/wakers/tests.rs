//! How wakers are distinguished.

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
async fn a_task_is_known_by_its_waker_once_a_driver_has_run() {
    use std::future::poll_fn;
    use std::task::Poll;

    crate::sleep(std::time::Duration::from_millis(5)).await;
    let is_task = || poll_fn(|cx| Poll::Ready(number(cx.waker()) == OF_TASKS));
    assert!(!is_task().await, "the waker of `block_on`");
    assert!(tokio::spawn(is_task()).await.unwrap());
    assert_ne!(number(Waker::noop()), OF_TASKS);
}

#[test]
fn a_vtable_too_many_has_no_number() {
    let vtables = [const { AtomicUsize::new(0) }; NUMBERS];
    let number = |vtable| id_of_another(&vtables, vtable);
    let numbers: Vec<_> = (1..=NUMBERS).map(|n| number(8 * n)).collect();
    let expected: Vec<_> = (1..=NUMBERS as VtableId).collect();
    assert_eq!(numbers, expected, "the first number is that of tasks");
    assert_eq!(numbers.last(), Some(&NONE));
    assert_eq!(number(8), 1, "as before");
}
