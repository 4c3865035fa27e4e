//! `DelayQueue`: what tokio-util's own tests leave open, and the bugs its users have met.
#![cfg(feature = "test-util")]

use std::future::poll_fn;
use std::task::{Poll, Waker};
use std::time::Duration;

use support::{
    HOUR, NO_RUNTIME, NO_TIMERS, counting, message_of, ms, multi_thread, panic_of, poll, secs,
};
use wheel::delay_queue::Expired;
use wheel::{DelayQueue, Instant, sleep};

/// Polls once, with a budget of its own.
fn poll_with<T>(queue: &mut DelayQueue<T>, waker: &Waker) -> Poll<Option<T>> {
    let polled = poll(&mut poll_fn(|cx| queue.poll_expired(cx)), waker);
    polled.map(|expired| expired.map(Expired::into_inner))
}

fn poll_once<T>(queue: &mut DelayQueue<T>) -> Poll<Option<T>> {
    poll_with(queue, Waker::noop())
}

async fn next<T>(queue: &mut DelayQueue<T>) -> Option<T> {
    let expired = poll_fn(|cx| queue.poll_expired(cx)).await?;
    Some(expired.into_inner())
}

#[tokio::test(start_paused = true)]
async fn entries_come_in_order_and_on_time() {
    let mut queue = DelayQueue::new();
    let start = Instant::now();
    let delays = [5, 1, 70, 64, 4096, 4095, 3_600_000, 63];
    for delay in delays {
        queue.insert(delay, ms(delay));
    }
    let mut sorted = delays;
    sorted.sort_unstable();
    for delay in sorted {
        assert_eq!(next(&mut queue).await, Some(delay));
        assert_eq!(start.elapsed(), ms(delay));
    }
    assert_eq!(next(&mut queue).await, None);
}

#[tokio::test(start_paused = true)]
async fn a_deadline_within_a_millisecond_is_rounded_up() {
    let mut queue = DelayQueue::new();
    let start = Instant::now();
    let key = queue.insert((), Duration::from_micros(1500));
    assert_eq!(queue.deadline(&key), start + ms(2));
    next(&mut queue).await.unwrap();
    assert_eq!(start.elapsed(), ms(2));
}

#[tokio::test(start_paused = true)]
async fn what_is_due_when_it_comes_is_there_at_once() {
    let mut queue = DelayQueue::new();
    sleep(ms(10)).await;
    // Again and again, while time stands still.
    for round in 0..1000 {
        queue.insert(round, Duration::ZERO);
        queue.insert_at(round, Instant::now() - ms(5));
        assert_eq!(poll_once(&mut queue), Poll::Ready(Some(round)));
        assert_eq!(poll_once(&mut queue), Poll::Ready(Some(round)));
        assert_eq!(poll_once(&mut queue), Poll::Ready(None));
    }
}

#[tokio::test(start_paused = true)]
async fn deadlines_in_the_past_come_before_those_to_come() {
    let mut queue = DelayQueue::new();
    sleep(ms(10)).await;
    queue.insert("later", ms(1));
    assert!(poll_once(&mut queue).is_pending());
    let past = queue.insert_at("past", Instant::now() - ms(8));
    assert_eq!(queue.peek(), Some(past));
    assert_eq!(poll_once(&mut queue), Poll::Ready(Some("past")));
    assert!(poll_once(&mut queue).is_pending());
}

#[tokio::test(start_paused = true)]
async fn removing_the_last_entry_wakes() {
    let mut queue = DelayQueue::new();
    let (waker, count) = counting();
    let first = queue.insert('a', secs(1));
    let second = queue.insert('b', secs(2));
    assert!(poll_with(&mut queue, &waker).is_pending());
    queue.remove(&first);
    assert_eq!(count.wakes(), 0);
    queue.remove(&second);
    assert_eq!(count.wakes(), 1);
    assert_eq!(poll_with(&mut queue, &waker), Poll::Ready(None));
    sleep(secs(5)).await;
    assert_eq!(count.wakes(), 1, "no timer is left");
}

#[tokio::test(start_paused = true)]
async fn clearing_wakes_unless_there_is_nothing() {
    let mut queue = DelayQueue::new();
    let (waker, count) = counting();
    queue.insert('a', secs(1));
    queue.insert('b', secs(2));
    assert!(poll_with(&mut queue, &waker).is_pending());
    queue.clear();
    assert_eq!(count.wakes(), 1);
    assert_eq!(poll_with(&mut queue, &waker), Poll::Ready(None));
    queue.clear();
    assert_eq!(count.wakes(), 1);
}

#[tokio::test(start_paused = true)]
async fn resetting_to_the_past_wakes() {
    let mut queue = DelayQueue::new();
    let (waker, count) = counting();
    queue.insert("first", secs(10));
    let key = queue.insert("second", secs(20));
    assert!(poll_with(&mut queue, &waker).is_pending());
    queue.reset_at(&key, Instant::now() - secs(1));
    assert_eq!(count.wakes(), 1);
    assert_eq!(poll_with(&mut queue, &waker), Poll::Ready(Some("second")));
}

#[tokio::test(start_paused = true)]
async fn an_earlier_entry_wakes_on_time() {
    let mut queue = DelayQueue::new();
    let (waker, count) = counting();
    queue.insert("late", HOUR);
    assert!(poll_with(&mut queue, &waker).is_pending());
    queue.insert("early", ms(10));
    sleep(ms(9)).await;
    assert_eq!(count.wakes(), 0);
    sleep(ms(1)).await;
    assert_eq!(count.wakes(), 1);
    assert_eq!(poll_with(&mut queue, &waker), Poll::Ready(Some("early")));
}

#[tokio::test(start_paused = true)]
async fn resetting_to_earlier_wakes_on_time() {
    let mut queue = DelayQueue::new();
    let (waker, count) = counting();
    let key = queue.insert("late", HOUR);
    assert!(poll_with(&mut queue, &waker).is_pending());
    queue.reset(&key, ms(10));
    queue.reset(&key, ms(5));
    sleep(ms(5)).await;
    assert_eq!(count.wakes(), 1);
    assert_eq!(poll_with(&mut queue, &waker), Poll::Ready(Some("late")));
}

#[tokio::test(start_paused = true)]
async fn whoever_was_told_none_is_woken_by_an_insertion() {
    let mut queue = DelayQueue::new();
    let (waker, count) = counting();
    assert_eq!(poll_with(&mut queue, &waker), Poll::Ready(None));
    queue.insert((), HOUR);
    assert_eq!(count.wakes(), 1);
    queue.insert((), secs(1));
    assert_eq!(count.wakes(), 1, "woken once is enough");
}

#[tokio::test(start_paused = true)]
async fn putting_off_the_only_entry_keeps_quiet_and_ends_on_time() {
    let mut queue = DelayQueue::new();
    let (waker, count) = counting();
    let start = Instant::now();
    let key = queue.insert("idle", ms(50));
    assert!(poll_with(&mut queue, &waker).is_pending());
    for _ in 0..100 {
        queue.reset(&key, ms(50));
    }
    assert_eq!(count.wakes(), 0);
    sleep(ms(10)).await;
    queue.reset(&key, ms(50));
    assert_eq!(next(&mut queue).await, Some("idle"));
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
    assert!(poll_once(&mut queue).is_pending());
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

#[tokio::test(start_paused = true)]
async fn a_stale_key_finds_nothing() {
    let mut queue = DelayQueue::new();
    let removed = queue.insert("removed", secs(1));
    queue.remove(&removed);
    let expired = queue.insert("expired", Duration::ZERO);
    assert_eq!(next(&mut queue).await, Some("expired"));
    let cleared = queue.insert("cleared", secs(1));
    queue.clear();
    let stale = [removed, expired, cleared];
    for _ in 0..100 {
        queue.insert("another", secs(1));
    }
    for key in stale {
        assert!(queue.try_remove(&key).is_none());
        assert_eq!(message_of(|| queue.deadline(&key)), "invalid key");
        assert_eq!(message_of(|| queue.reset(&key, secs(1))), "invalid key");
        assert_eq!(message_of(|| queue.remove(&key)), "invalid key");
    }
    assert_eq!(queue.len(), 100);
}

#[test]
fn panics_are_at_the_callers_line() {
    let mut queue = DelayQueue::new();
    let key = queue.insert((), secs(1));
    queue.remove(&key);
    let here = |panic: Option<support::Panic>| assert_eq!(panic.unwrap().file, file!());
    here(panic_of(|| queue.remove(&key)));
    here(panic_of(|| queue.deadline(&key)));
    here(panic_of(|| queue.reset(&key, secs(1))));
    here(panic_of(|| queue.reset_at(&key, Instant::now())));
    here(panic_of(|| queue.reserve(1 << 30)));
    let message = message_of(|| queue.reserve(1 << 30));
    assert_eq!(message, "max queue capacity exceeded");
}

#[test]
fn only_waiting_needs_a_runtime() {
    let mut queue = DelayQueue::new();
    assert_eq!(poll_once(&mut queue), Poll::Ready(None));
    let key = queue.insert(1, secs(1));
    queue.reset(&key, secs(2));
    queue.insert(2, secs(3));
    assert_eq!(message_of(|| poll_once(&mut queue)), NO_RUNTIME);
    let timeless = tokio::runtime::Builder::new_current_thread().build();
    let _guard = timeless.as_ref().unwrap().enter();
    assert_eq!(message_of(|| poll_once(&mut queue)), NO_TIMERS);
    assert_eq!(queue.remove(&key).into_inner(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_is_due_and_not_polled_can_be_removed_and_reset() {
    let mut queue = DelayQueue::new();
    let keys: Vec<_> = (0..4).map(|value| queue.insert(value, ms(10))).collect();
    assert!(poll_once(&mut queue).is_pending());
    sleep(ms(20)).await;
    let Poll::Ready(Some(first)) = poll_once(&mut queue) else {
        panic!("four are due")
    };
    let mut left: Vec<u32> = (0..4).filter(|&value| value != first).collect();
    let removed = left.pop().unwrap();
    assert_eq!(queue.remove(&keys[removed as usize]).into_inner(), removed);
    let put_off = left.pop().unwrap();
    queue.reset(&keys[put_off as usize], ms(10));
    assert_eq!(poll_once(&mut queue), Poll::Ready(Some(left[0])));
    assert!(poll_once(&mut queue).is_pending());
    sleep(ms(10)).await;
    assert_eq!(poll_once(&mut queue), Poll::Ready(Some(put_off)));
}

#[tokio::test(start_paused = true)]
async fn peek_is_the_earliest_of_a_crowd() {
    let mut queue = DelayQueue::new();
    let mut earliest = None;
    for millis in (100..200).rev() {
        earliest = Some(queue.insert(millis, ms(millis)));
        assert_eq!(queue.peek(), earliest);
    }
    queue.remove(&earliest.unwrap());
    let next = queue.peek().unwrap();
    assert_eq!(queue.remove(&next).into_inner(), 101);
    queue.clear();
    assert_eq!(queue.peek(), None);
}

#[tokio::test(start_paused = true)]
async fn a_poll_does_a_bounded_amount_of_work() {
    let mut queue = DelayQueue::new();
    let (waker, count) = counting();
    // A crowd in one slot of a high level, none of it due when the slot begins.
    for _ in 0..1000 {
        queue.insert((), secs(10));
    }
    sleep(ms(9900)).await;
    let mut polls = 0;
    while {
        let before = count.wakes();
        assert!(poll_with(&mut queue, &waker).is_pending());
        polls += 1;
        count.wakes() > before
    } {}
    assert!((8..50).contains(&polls), "{polls} polls");
    sleep(ms(100)).await;
    for _ in 0..1000 {
        assert_eq!(next(&mut queue).await, Some(()));
    }
    assert_eq!(next(&mut queue).await, None);
}

#[tokio::test(start_paused = true)]
async fn a_queue_that_is_always_ready_lets_others_run() {
    let mut queue = DelayQueue::new();
    for _ in 0..1000 {
        queue.insert((), Duration::ZERO);
    }
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

#[tokio::test(start_paused = true)]
async fn compacting_frees_memory_and_keeps_keys() {
    let mut queue = DelayQueue::new();
    let keys: Vec<_> = (0..10_000_u64)
        .map(|value| queue.insert(value, ms(1000 + value)))
        .collect();
    let kept: Vec<_> = (0..10_000).step_by(100).collect();
    for value in (0..10_000).filter(|value| value % 100 != 0) {
        queue.remove(&keys[value]);
    }
    queue.compact();
    assert_eq!((queue.len(), queue.capacity()), (100, 100));
    queue.compact();
    for &value in &kept {
        assert_eq!(
            queue.deadline(&keys[value]),
            queue_start(&queue, keys[0], 1000) + ms(1000 + value as u64)
        );
    }
    for stale in &keys[1..100] {
        assert!(queue.try_remove(stale).is_none());
    }
    assert_eq!(queue.remove(&keys[9900]).key(), keys[9900]);
    assert!(queue.try_remove(&keys[9900]).is_none());
    queue.reset(&keys[9800], ms(10));
    assert_eq!(queue.peek(), Some(keys[9800]));
    let expired = poll_fn(|cx| queue.poll_expired(cx)).await.unwrap();
    assert_eq!(expired.key(), keys[9800]);
    for &value in &kept[..98] {
        assert_eq!(next(&mut queue).await, Some(value as u64));
    }
    queue.compact();
    assert_eq!((queue.len(), queue.capacity()), (0, 0));
}

/// When the queue was made, told from an entry that is due so many milliseconds later.
fn queue_start<T>(queue: &DelayQueue<T>, key: wheel::delay_queue::Key, millis: u64) -> Instant {
    queue.deadline(&key) - ms(millis)
}

#[tokio::test(start_paused = true)]
async fn compacting_among_what_is_due_loses_nothing() {
    let mut queue = DelayQueue::new();
    let (waker, count) = counting();
    let keys: Vec<_> = (0..10).map(|value| queue.insert(value, ms(10))).collect();
    assert!(poll_with(&mut queue, &waker).is_pending());
    sleep(ms(10)).await;
    assert!(poll_once(&mut queue).is_ready());
    queue.try_remove(&keys[3]);
    queue.compact();
    let left = queue.len();
    for _ in 0..left {
        assert!(matches!(
            poll_with(&mut queue, &waker),
            Poll::Ready(Some(_))
        ));
    }
    assert_eq!(poll_with(&mut queue, &waker), Poll::Ready(None));
    assert_eq!(count.wakes(), 1);
}

#[test]
fn capacity_is_kept_until_it_is_given_back() {
    let mut queue = DelayQueue::with_capacity(3000);
    assert!(queue.capacity() >= 3000);
    queue.insert((), secs(1));
    queue.clear();
    assert!(queue.capacity() >= 3000);
    queue.shrink_to_fit();
    assert_eq!(queue.capacity(), 0);
}

#[test]
fn anything_can_be_in_it() {
    struct NotDebug;
    let mut queue = DelayQueue::default();
    queue.insert(NotDebug, secs(1));
    assert!(format!("{queue:?}").starts_with("DelayQueue { wheel: TimingWheel { now: 0, len: 1"));
}

#[test]
fn in_real_time_nothing_is_early_and_nothing_is_lost() {
    multi_thread(2).block_on(async {
        let mut queue = DelayQueue::new();
        let start = Instant::now();
        for millis in 0..300_u64 {
            queue.insert(start + ms(millis / 3), ms(millis / 3));
        }
        let task = tokio::spawn(async move {
            let mut count = 0;
            while let Some(due) = next(&mut queue).await {
                assert!(Instant::now() >= due);
                count += 1;
            }
            count
        });
        assert_eq!(task.await.unwrap(), 300);
        assert!(start.elapsed() >= ms(99));
    });
}
