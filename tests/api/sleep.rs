//! A `Sleep` tells wakers apart, and consumes its task's budget as Tokio's does.
//!
//! The random programs of `tests/as_tokio/random/` test polls, resets and wakers in general.
#![cfg(feature = "test-util")]

use support::prelude::*;

use std::mem::ManuallyDrop;
use std::task::{RawWaker, RawWakerVTable};

use wheel::advance;

#[tokio::test(start_paused = true)]
async fn wakers_that_share_their_data_are_told_apart() {
    // Two wakers share an `Arc`, but have different vtables: std made one of them, and `futures` the other.
    #[derive(Default)]
    struct Both([AtomicUsize; 2]);
    impl std::task::Wake for Both {
        fn wake(self: Arc<Self>) {
            self.0[0].fetch_add(1, Ordering::SeqCst);
        }
    }
    impl futures::task::ArcWake for Both {
        fn wake_by_ref(both: &Arc<Self>) {
            both.0[1].fetch_add(1, Ordering::SeqCst);
        }
    }
    let both = Arc::new(Both::default());
    let first = Waker::from(both.clone());
    let second = futures::task::waker(both.clone());
    assert_eq!(first.data(), second.data());
    let sleep = armed_with(sleep(ms(10)), &first);
    let _sleep = armed_with(sleep, &second);
    advance(ms(10)).await;
    let woken = both.0.each_ref().map(|wakes| wakes.load(Ordering::SeqCst));
    assert_eq!(woken, [0, 1]);
}

/// Returns a waker that borrows another one, which must not move. A clone of it is a clone of the other waker, with other
/// data. (Executors that allocate only for a clone have such wakers.)
#[allow(unsafe_code, reason = "such a waker cannot be made otherwise")]
fn borrowing(other: &Waker) -> Waker {
    fn clone(other: *const ()) -> RawWaker {
        // SAFETY: no test moves a waker that is borrowed.
        let clone = ManuallyDrop::new(unsafe { &*other.cast::<Waker>() }.clone());
        RawWaker::new(clone.data(), clone.vtable())
    }
    static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, drop, drop, drop);
    let data = std::ptr::from_ref(other).cast();
    // SAFETY: as above. Waking and dropping the borrowing waker do nothing.
    unsafe { Waker::new(data, &VTABLE) }
}

#[tokio::test(start_paused = true)]
async fn a_waker_in_the_place_of_another_is_another() {
    let ((mut place, first), (second, count)) = (new_count_waker(), new_count_waker());
    let sleep = armed_with(sleep(ms(10)), &borrowing(&place));
    place.clone_from(&second);
    let _sleep = armed_with(sleep, &borrowing(&place));
    advance(ms(10)).await;
    assert_eq!((first.get(), count.get()), (0, 1));
}

/// Returns how many ready sleeps a single poll of a task may see.
async fn ready_per_poll<T: Time>() -> usize {
    let all = poll_fn(|cx| {
        let mut sleeps = (0..10_000).map(|_| T::boxed(Duration::ZERO));
        let ready = sleeps.position(|mut sleep| sleep.as_mut().poll(cx).is_pending());
        Poll::Ready(ready.expect("the budget is never exhausted"))
    });
    tokio::spawn(all).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn ready_sleeps_spend_the_tasks_budget_as_tokios_do_and_a_pending_one_none() {
    let theirs = ready_per_poll::<Tokio>().await;
    assert_eq!(ready_per_poll::<Ours>().await, theirs);
    let pending = poll_fn(|cx| {
        let mut one = sleep(HOUR);
        for _ in 0..1000 {
            assert!(Pin::new(&mut one).poll(cx).is_pending());
        }
        assert!(coop::has_budget_remaining());
        Poll::Ready(())
    });
    tokio::spawn(pending).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_sleep_polled_without_budget_is_neither_lost_nor_late() {
    let start = Instant::now();
    let mut one = sleep(ms(10));
    let mut burnt = false;
    poll_fn(|cx| {
        if !burnt {
            burnt = true;
            while coop::has_budget_remaining() {
                let _ = std::pin::pin!(coop::consume_budget()).poll(cx);
            }
        }
        Pin::new(&mut one).poll(cx)
    })
    .await;
    assert_eq!(start.elapsed(), ms(10));
}
