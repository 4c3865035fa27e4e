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

#[test]
fn a_vtable_too_many_has_no_number() {
    let vtables = [const { AtomicUsize::new(0) }; NUMBERS];
    let number = |vtable| id_in(&vtables, vtable);
    let numbers: Vec<_> = (1..=NUMBERS + 1).map(|n| number(8 * n)).collect();
    let expected: Vec<_> = (0..=NUMBERS as VtableId).collect();
    assert_eq!(numbers, expected);
    assert_eq!(numbers.last(), Some(&NONE));
    assert_eq!(number(8), 0, "as before");
}
