//! A `Sleep`, a `Timeout` and an `Interval` wake, spend budgets, and make up for ticks as documented; what random
//! programs would hardly come upon.
#![cfg(feature = "test-util")]

use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Waker};
use std::time::Duration;

use support::{Count, HOUR, counting, ms, poll, poll_quietly, secs};
use tokio::task::coop;
use wheel::{Instant, MissedTickBehavior, Sleep, advance, interval, sleep, timeout};

fn pending_sleep(duration: Duration) -> (Sleep, Arc<Count>) {
    let (waker, count) = counting();
    let mut sleep = sleep(duration);
    assert!(poll(&mut sleep, &waker).is_pending());
    (sleep, count)
}

#[tokio::test(start_paused = true)]
async fn reset_to_earlier_keeps_the_waker() {
    let start = Instant::now();
    let (mut sleep, count) = pending_sleep(HOUR);
    sleep.reset_unpin(start + ms(5));
    advance(ms(4)).await;
    assert_eq!(count.wakes(), 0);
    advance(ms(1)).await;
    assert_eq!(count.wakes(), 1);
    advance(2 * HOUR).await;
    assert_eq!(count.wakes(), 1);
}

#[tokio::test(start_paused = true)]
async fn reset_again_and_again_leaves_one_timer() {
    let wheel = wheel::Wheel::current();
    let start = Instant::now();
    let (mut sleep, count) = pending_sleep(ms(1));
    for n in 0..10_000 {
        sleep.reset_unpin(start + ms(10 + n % 977 * 13));
    }
    assert_eq!(wheel.pending(), 1);
    sleep.reset_unpin(start + ms(50));
    advance(ms(49)).await;
    assert_eq!(count.wakes(), 0);
    advance(ms(1)).await;
    assert_eq!(count.wakes(), 1);
    assert_eq!(wheel.pending(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_sleep_dropped_where_it_was_rescheduled_to_harms_nobody() {
    let start = Instant::now();
    let (a, _) = pending_sleep(ms(5));
    let (mut b, _) = pending_sleep(ms(5));
    let (c, c_count) = pending_sleep(ms(10));
    b.reset_unpin(start + ms(10));
    a.await;
    drop(b);
    advance(ms(5)).await;
    assert_eq!(c_count.wakes(), 1);
    drop(c);
}

#[tokio::test(start_paused = true)]
async fn the_waker_of_the_last_poll_is_the_one_that_is_woken() {
    let mut sleep = sleep(ms(10));
    let wakers: Vec<_> = (0..5).map(|_| counting()).collect();
    for (waker, _) in &wakers {
        assert!(poll(&mut sleep, waker).is_pending());
    }
    // Back to the second, and the same twice.
    assert!(poll(&mut sleep, &wakers[1].0).is_pending());
    assert!(poll(&mut sleep, &wakers[1].0).is_pending());
    advance(ms(10)).await;
    let wakes: Vec<_> = wakers.iter().map(|(_, count)| count.wakes()).collect();
    assert_eq!(wakes, [0, 1, 0, 0, 0]);
}

#[tokio::test(start_paused = true)]
async fn wakers_that_share_their_data_are_told_apart() {
    // One `Arc`, two vtables: by std's way of making a waker, and by futures'.
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
    let mut sleep = sleep(ms(10));
    assert!(poll(&mut sleep, &first).is_pending());
    assert!(poll(&mut sleep, &second).is_pending());
    advance(ms(10)).await;
    let woken = both.0.each_ref().map(|wakes| wakes.load(Ordering::SeqCst));
    assert_eq!(woken, [0, 1]);
}

#[tokio::test(start_paused = true)]
async fn a_waker_is_freed_with_the_sleep() {
    let (waker, count) = counting();
    let held = Arc::strong_count(&count);
    let mut sleep = sleep(HOUR);
    assert!(poll(&mut sleep, &waker).is_pending());
    assert_eq!(Arc::strong_count(&count), held + 1);
    drop(sleep);
    assert_eq!(Arc::strong_count(&count), held);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_can_be_polled_on_after_it_has_elapsed() {
    let (tx, rx) = tokio::sync::oneshot::channel();
    let mut late = timeout(ms(10), rx);
    assert!((&mut late).await.is_err());
    assert!((&mut late).await.is_err());
    tx.send(5).unwrap();
    assert_eq!((&mut late).await, Ok(Ok(5)));
}

#[tokio::test(start_paused = true)]
async fn a_very_long_timeout_never_elapses() {
    let mut never = timeout(Duration::MAX, pending::<()>());
    assert!(poll_quietly(&mut never).is_pending());
    advance(secs(10 * 365 * 24 * 3600)).await;
    assert!(poll_quietly(&mut never).is_pending());
}

#[test]
fn a_future_that_burns_the_budget_does_not_outlive_its_timeout() {
    async fn burning() {
        loop {
            coop::consume_budget().await;
        }
    }
    for (name, runtime) in support::runtimes() {
        let late = runtime.spawn(async { timeout(ms(10), burning()).await });
        assert!(runtime.block_on(late).unwrap().is_err(), "{name}");
    }
}

/// How many ready sleeps one poll of a task may see.
macro_rules! ready_per_poll {
    ($time:path) => {{
        use $time as time;
        tokio::spawn(poll_fn(|cx| {
            let mut sleeps = (0..10_000).map(|_| Box::pin(time::sleep(Duration::ZERO)));
            let ready = sleeps.position(|mut sleep| sleep.as_mut().poll(cx).is_pending());
            Poll::Ready(ready.expect("no budget is spent"))
        }))
        .await
        .unwrap()
    }};
}

#[tokio::test(start_paused = true)]
async fn ready_sleeps_spend_the_tasks_budget_as_tokios_do_and_a_pending_one_none() {
    assert_eq!(ready_per_poll!(wheel), ready_per_poll!(tokio::time));
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

#[tokio::test(start_paused = true)]
async fn dropping_a_tick_consumes_none() {
    let start = Instant::now();
    let mut ticking = interval(ms(100));
    ticking.tick().await;
    for _ in 0..3 {
        assert!(timeout(ms(30), ticking.tick()).await.is_err());
    }
    assert_eq!(ticking.tick().await, start + ms(100));
}

#[tokio::test(start_paused = true)]
async fn intervals_take_the_longest_durations() {
    let mut long = interval(Duration::MAX);
    let theirs = tokio::time::interval(Duration::MAX);
    assert_eq!(long.period(), theirs.period());
    long.tick().await;
    long.reset();
    long.reset_after(Duration::MAX);
    assert!(poll_quietly(&mut Box::pin(long.tick())).is_pending());
    long.reset_immediately();
    long.tick().await;
}

/// Late by 150 of 100 ms, once. Random programs are in tests/differential.
#[tokio::test(start_paused = true)]
async fn each_behavior_makes_up_for_missed_ticks_as_documented() {
    for (behavior, expected) in [
        (MissedTickBehavior::Burst, [0, 100, 200, 300, 400]),
        (MissedTickBehavior::Delay, [0, 100, 350, 450, 550]),
        (MissedTickBehavior::Skip, [0, 100, 300, 400, 500]),
    ] {
        let start = Instant::now();
        let mut interval = interval(ms(100));
        interval.set_missed_tick_behavior(behavior);
        let mut ticks = [interval.tick().await; 5];
        sleep(ms(250)).await;
        for tick in &mut ticks[1..] {
            *tick = interval.tick().await;
        }
        assert_eq!(ticks.map(|tick| (tick - start).as_millis()), expected);
    }
}
