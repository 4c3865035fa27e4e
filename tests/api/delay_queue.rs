//! `DelayQueue` has none of the bugs that users of tokio-util's queue reported, and is right in cases that tokio-util's own
//! tests do not cover.
#![cfg(feature = "test-util")]

use support::prelude::*;

use tokio_test::{assert_pending, assert_ready_eq, task};
use wheel::DelayQueue;
use wheel::delay_queue::Expired;

/// Polls once, regardless of the task's budget.
fn poll_with<T>(queue: &mut DelayQueue<T>, waker: &Waker) -> Poll<Option<T>> {
    let polled = poll(&mut poll_fn(|cx| queue.poll_expired(cx)), waker);
    polled.map(|expired| expired.map(Expired::into_inner))
}

async fn next<T>(queue: &mut DelayQueue<T>) -> Option<T> {
    queue.next().await.map(Expired::into_inner)
}

#[tokio::test(start_paused = true)]
async fn the_first_insertion_wakes_the_task_that_found_the_queue_empty_once() {
    let (mut queue, (waker, count)) = (DelayQueue::new(), new_count_waker());
    assert_ready_eq!(poll_with(&mut queue, &waker), None);
    queue.insert(0, HOUR);
    queue.insert(0, secs(1));
    assert_eq!(count, 1);
}

#[tokio::test(start_paused = true)]
async fn extending_the_only_entry_wakes_no_task_and_the_entry_is_on_time() {
    let (mut queue, (waker, count)) = (DelayQueue::new(), new_count_waker());
    let start = Instant::now();
    let key = queue.insert(5, ms(50));
    assert_pending!(poll_with(&mut queue, &waker));
    (0..100).for_each(|_| queue.reset(&key, ms(50)));
    assert_eq!(count, 0);
    sleep(ms(10)).await;
    queue.reset(&key, ms(50));
    assert_eq!(next(&mut queue).await, Some(5));
    assert_eq!(start.elapsed(), ms(60));
}

#[tokio::test(start_paused = true)]
async fn no_deadline_is_too_far() {
    let mut queue = DelayQueue::new();
    let never = queue.insert("never", Duration::MAX);
    let far = queue.insert("far", secs(500 * 365 * 86_400));
    let soon = queue.insert("soon", secs(1));
    assert!(queue.deadline(&far) < queue.deadline(&never));
    queue.reset(&soon, Duration::MAX);
    assert_pending!(task::spawn(next(&mut queue)).poll());
    queue.reset(&soon, secs(2));
    assert_eq!(next(&mut queue).await, Some("soon"));
    assert_eq!(queue.remove(&never).into_inner(), "never");
}

#[tokio::test(start_paused = true)]
async fn a_queue_that_is_years_old_goes_on() {
    let mut queue = DelayQueue::new();
    for year in 1..=20_u64 {
        let key = queue.insert(year, secs(365 * 86_400));
        queue.insert(0, secs(200 * 86_400));
        assert_eq!(next(&mut queue).await, Some(0));
        assert_eq!(queue.peek(), Some(key));
        assert_eq!(next(&mut queue).await, Some(year));
    }
}

#[test]
fn panics_are_at_the_callers_line() {
    let mut queue = DelayQueue::new();
    let key = queue.insert((), secs(1));
    queue.remove(&key);
    let panics = [
        panic_of(|| queue.remove(&key)),
        panic_of(|| queue.deadline(&key)),
        panic_of(|| queue.reset(&key, secs(1))),
        panic_of(|| queue.reset_at(&key, Instant::now())),
        panic_of(|| queue.reserve(1 << 30)),
    ];
    for (index, panic) in panics.into_iter().map(Option::unwrap).enumerate() {
        let of_keys = ["max queue capacity exceeded", "invalid key"][usize::from(index < 4)];
        assert_eq!((&*panic.file, &*panic.message), (file!(), of_keys));
    }
}

#[test]
fn only_waiting_needs_a_runtime() {
    let mut queue = DelayQueue::new();
    assert_ready_eq!(task::spawn(next(&mut queue)).poll(), None);
    let key = queue.insert(1, secs(1));
    queue.reset(&key, secs(2));
    queue.insert(2, secs(3));
    let message = message_of(|| task::spawn(next(&mut queue)).poll());
    assert_eq!(message, NO_RUNTIME);
    let timeless = tokio::runtime::Builder::new_current_thread().build();
    let _guard = timeless.as_ref().unwrap().enter();
    let message = message_of(|| task::spawn(next(&mut queue)).poll());
    assert_eq!(message, NO_TIMERS);
    assert_eq!(queue.remove(&key).into_inner(), 1);
}

/// Two thousand entries share a slot of a high level with one that is due earlier. Then they move to lower levels.
#[tokio::test(start_paused = true)]
async fn a_poll_does_a_bounded_amount_of_work() {
    let mut queue = DelayQueue::new();
    let (waker, count) = new_count_waker();
    queue.insert((), ms(10_498));
    (0..2000).for_each(|_| _ = queue.insert((), ms(10_500)));
    let (mut fired, mut unfinished) = (0, 0);
    loop {
        let before = count.get();
        match poll_with(&mut queue, &waker) {
            Poll::Ready(None) => break,
            Poll::Ready(Some(())) => fired += 1,
            Poll::Pending if count.get() > before => unfinished += 1,
            Poll::Pending => sleep(ms(100)).await,
        }
    }
    assert_eq!(fired, 2001);
    assert!((7..100).contains(&unfinished), "{unfinished} polls");
}

#[tokio::test(start_paused = true)]
async fn a_queue_that_is_always_ready_lets_others_run() {
    let mut queue = DelayQueue::new();
    (0..1000).for_each(|_| _ = queue.insert((), Duration::ZERO));
    let in_one_go = poll_fn(|cx| {
        let mut fired = 0;
        while queue.poll_expired(cx).is_ready() {
            fired += 1;
        }
        Poll::Ready(fired)
    });
    let in_one_go = in_one_go.await;
    assert!((1..=128).contains(&in_one_go), "{in_one_go}");
}

/// Entries do not move. Of three pages of 1,024 entries, the two that are empty are freed.
#[test]
fn compacting_frees_pages_without_entries() {
    let mut queue = DelayQueue::new();
    let keys: Vec<_> = (0..3 * 1024).map(|n| queue.insert(n, HOUR)).collect();
    let (kept, removed) = keys.split_at(1024);
    removed.iter().for_each(|key| _ = queue.remove(key));
    for _ in 0..2 {
        queue.compact();
        assert_eq!((queue.len(), queue.capacity()), (1024, 1024));
    }
    for (n, key) in (0..).zip(kept) {
        assert_eq!(queue.remove(key).into_inner(), n);
    }
    queue.compact();
    assert_eq!((queue.len(), queue.capacity()), (0, 0));
}

#[test]
fn a_queue_that_is_cleared_keeps_its_capacity() {
    let mut queue = DelayQueue::with_capacity(3000);
    assert!(queue.capacity() >= 3000);
    queue.insert((), secs(1));
    queue.clear();
    assert!(queue.capacity() >= 3000);
}

#[tokio::test(start_paused = true)]
async fn an_earlier_entry_moves_the_timer_and_wakes_the_task_only_then() {
    let (mut queue, (waker, count)) = (DelayQueue::new(), new_count_waker());
    queue.insert("later", ms(50));
    assert!(poll_with(&mut queue, &waker).is_pending());
    queue.insert("earlier", ms(20));
    sleep(ms(10)).await;
    assert_eq!(count.get(), 0);
    sleep(ms(10)).await;
    assert_eq!(count.get(), 1);
    assert_eq!(poll_with(&mut queue, &waker), Poll::Ready(Some("earlier")));
}

/// The clock is in the middle of one of Tokio's milliseconds, and timers wait for its end.
#[tokio::test(start_paused = true)]
async fn an_entry_expires_no_earlier_than_a_timer_for_its_deadline() {
    let half = Duration::from_micros(500);
    wheel::advance(half).await;
    let mut queue = DelayQueue::new();
    queue.insert((), ms(1));
    assert!(poll_with(&mut queue, Waker::noop()).is_pending());
    wheel::advance(ms(1)).await;
    assert!(poll_with(&mut queue, Waker::noop()).is_pending());
    wheel::advance(half).await;
    assert_eq!(poll_with(&mut queue, Waker::noop()), Poll::Ready(Some(())));
}

/// However many entries were due when they were inserted, the next one is due, too.
#[tokio::test(start_paused = true)]
async fn entries_that_are_due_when_inserted_need_no_time() {
    let (start, mut queue) = (Instant::now(), DelayQueue::new());
    for n in 0..300_000 {
        queue.insert(n, Duration::ZERO);
        assert_eq!(next(&mut queue).await, Some(n));
    }
    assert_eq!(start.elapsed(), Duration::ZERO);
}

/// The clock of a paused runtime is behind the one that the queue was created under, and behind the one that some entries
/// were inserted under.
#[test]
fn no_entry_is_early_under_a_clock_that_is_behind() {
    for (filled_before, due_before) in [(0, 0), (100, 0), (100, 3)] {
        let runtime = paused();
        std::thread::sleep(ms(100));
        let mut queue = DelayQueue::new();
        (0..filled_before).for_each(|_| _ = queue.insert("later", secs(60)));
        (0..due_before).for_each(|_| _ = queue.insert("before", Duration::ZERO));
        runtime.block_on(async {
            let start = Instant::now();
            queue.insert("fifty", ms(50));
            let reset = queue.insert("reset", HOUR);
            queue.reset(&reset, ms(20));
            for expected in [("reset", ms(20)), ("fifty", ms(50))] {
                let value = next(&mut queue).await.unwrap();
                assert_eq!((value, start.elapsed()), expected);
            }
            for _ in 0..due_before {
                assert_eq!(next(&mut queue).await, Some("before"));
            }
            assert_eq!(queue.len(), filled_before);
        });
    }
}

/// This is a difference from tokio-util, which the documentation of `DelayQueue` lists.
#[tokio::test(start_paused = true)]
async fn an_entry_for_a_time_that_has_passed_reports_the_time_of_the_last_poll() {
    let (start, mut queue) = (Instant::now(), DelayQueue::new());
    queue.insert("polled at 10 ms", ms(10));
    assert!(queue.next().await.is_some());
    let inserted = queue.insert_at("inserted", start + ms(1));
    let reset = queue.insert("reset", ms(50));
    queue.reset_at(&reset, start);
    for key in [inserted, reset] {
        assert_eq!(queue.deadline(&key), start + ms(10));
    }
    for _ in [inserted, reset] {
        let expired = queue.next().await.unwrap();
        assert_eq!(expired.deadline(), start + ms(10));
        assert_eq!(Instant::now(), start + ms(10));
    }
}
