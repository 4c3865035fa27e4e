//! A `Sleep`, a `Timeout` and an `Interval` keep and free wakers, spend budgets, wake on a reset and make up for ticks as
//! tokio's do, step by step.
#![cfg(feature = "test-util")]

use std::future::{Future, pending, poll_fn, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use support::{Count, HOUR, counting, ms, poll, poll_quietly, secs};
use tokio::task::coop;
use tokio::time;
use wheel::{Instant, MissedTickBehavior, Sleep, advance, interval, sleep, sleep_until, timeout};

fn pending_sleep(duration: Duration) -> (Sleep, Arc<Count>) {
    let (waker, count) = counting();
    let mut sleep = sleep(duration);
    assert!(poll(&mut sleep, &waker).is_pending());
    (sleep, count)
}

#[tokio::test(start_paused = true)]
async fn the_deadline_is_the_one_asked_for() {
    let odd = Instant::now() + Duration::from_nanos(1_234_567);
    let mut sleep = sleep_until(odd);
    assert_eq!(sleep.deadline(), odd);
    (&mut sleep).await;
    assert_eq!(sleep.deadline(), odd);
    sleep.reset_unpin(odd + HOUR);
    assert_eq!(sleep.deadline(), odd + HOUR);
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
async fn reset_to_the_past_wakes_on_the_spot() {
    let start = Instant::now();
    advance(ms(50)).await;
    for past in [start, start + ms(49), start + ms(50)] {
        let (mut sleep, count) = pending_sleep(ms(100));
        sleep.reset_unpin(past);
        assert_eq!(count.wakes(), 1);
        assert!(sleep.is_elapsed());
        assert!(poll_quietly(&mut sleep).is_ready());
        advance(ms(200)).await;
        assert_eq!(count.wakes(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn reset_to_the_past_wakes_though_others_are_due_earlier_and_later() {
    let (_before, first) = pending_sleep(ms(20));
    let (mut sleep, count) = pending_sleep(ms(100));
    let (_after, last) = pending_sleep(ms(200));
    sleep.reset_unpin(Instant::now());
    assert_eq!((first.wakes(), count.wakes(), last.wakes()), (0, 1, 0));
}

#[tokio::test(start_paused = true)]
async fn reset_before_the_first_poll_to_the_past_is_elapsed_at_once() {
    let mut sleep = sleep(HOUR);
    sleep.reset_unpin(Instant::now());
    assert!(sleep.is_elapsed());
    assert!(poll_quietly(&mut sleep).is_ready());
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
async fn a_replaced_waker_is_freed_at_once() {
    let (first, first_count) = counting();
    let (second, second_count) = counting();
    let (held_first, held_second) = (
        Arc::strong_count(&first_count),
        Arc::strong_count(&second_count),
    );
    let mut sleep = sleep(HOUR);
    assert!(poll(&mut sleep, &first).is_pending());
    assert!(poll(&mut sleep, &second).is_pending());
    assert_eq!(Arc::strong_count(&first_count), held_first);
    assert_eq!(Arc::strong_count(&second_count), held_second + 1);
    sleep.reset_unpin(Instant::now() + 2 * HOUR);
    assert_eq!(Arc::strong_count(&second_count), held_second + 1);
    sleep.reset_unpin(Instant::now());
    assert_eq!(Arc::strong_count(&second_count), held_second);
}

#[tokio::test(start_paused = true)]
async fn a_timeouts_waker_is_freed_when_its_future_is_ready_or_taken_back() {
    let (waker, count) = counting();
    let held = Arc::strong_count(&count);
    let (tx, rx) = tokio::sync::oneshot::channel::<()>();
    let mut waiting = timeout(HOUR, rx);
    assert!(poll(&mut waiting, &waker).is_pending());
    assert_eq!(Arc::strong_count(&count), held + 2);
    drop(waiting.into_inner());
    assert_eq!(Arc::strong_count(&count), held);
    drop(tx);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_polls_its_future_first() {
    let now = Instant::now();
    assert_eq!(wheel::timeout_at(now, ready(1)).await, Ok(1));
    advance(secs(1)).await;
    assert_eq!(wheel::timeout_at(now, ready(2)).await, Ok(2));
    // Both at the same millisecond.
    let both = timeout(ms(10), sleep(ms(10)));
    assert_eq!(both.await, Ok(()));
    let late = timeout(ms(10), sleep(ms(11)));
    assert!(late.await.is_err());
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
async fn a_timeout_of_a_ready_future_registers_nothing() {
    let wheel = wheel::Wheel::current();
    let (waker, _) = counting();
    for _ in 0..10 {
        assert!(poll(&mut timeout(HOUR, ready(())), &waker).is_ready());
    }
    assert_eq!(wheel.pending(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_very_long_timeout_never_elapses() {
    let mut never = timeout(Duration::MAX, pending::<()>());
    assert!(poll_quietly(&mut never).is_pending());
    advance(secs(10 * 365 * 24 * 3600)).await;
    assert!(poll_quietly(&mut never).is_pending());
}

#[tokio::test]
async fn a_future_that_burns_the_budget_does_not_outlive_its_timeout() {
    let burning = async {
        loop {
            coop::consume_budget().await;
        }
    };
    assert!(timeout(ms(10), burning).await.is_err());
}

#[test]
fn a_future_that_burns_the_budget_does_not_outlive_its_timeout_on_workers() {
    support::multi_thread(2).block_on(async {
        let burning = || async {
            loop {
                coop::consume_budget().await;
            }
        };
        let tasks =
            (0..4).map(|_| tokio::spawn(async move { timeout(ms(20), burning()).await.is_err() }));
        for elapsed in futures::future::join_all(tasks).await {
            assert!(elapsed.unwrap());
        }
    });
}

/// How many ready sleeps one poll of a task may see.
macro_rules! ready_per_poll {
    ($($time:tt)+) => {{
        use $($time)+ as time;
        let mut seen = 0;
        poll_fn(|cx| {
            if seen > 0 {
                return Poll::Ready(());
            }
            while Box::pin(time::sleep(Duration::ZERO)).as_mut().poll(cx).is_ready() {
                seen += 1;
                assert!(seen < 10_000, "no budget is spent");
            }
            Poll::Pending
        })
        .await;
        seen
    }};
}

#[tokio::test(start_paused = true)]
async fn ready_sleeps_spend_the_tasks_budget_as_tokios_do() {
    let ours = tokio::spawn(async { ready_per_poll!(wheel) })
        .await
        .unwrap();
    let theirs = tokio::spawn(async { ready_per_poll!(tokio::time) })
        .await
        .unwrap();
    assert_eq!(ours, theirs);
}

#[tokio::test(start_paused = true)]
async fn a_pending_sleep_spends_no_budget() {
    tokio::spawn(poll_fn(|cx: &mut Context<'_>| {
        let mut one = sleep(HOUR);
        for _ in 0..1000 {
            assert!(Pin::new(&mut one).poll(cx).is_pending());
        }
        assert!(coop::has_budget_remaining());
        Poll::Ready(())
    }))
    .await
    .unwrap();
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

// --- ticks that are missed; random programs are in tests/differential ------

/// When the ticks are that come after one tick and a delay, in milliseconds.
macro_rules! ticks_after_a_delay {
    ($name:ident, $time:ident) => {
        fn $name(period: u64, behavior: MissedTickBehavior, delay: u64) -> Vec<u128> {
            support::paused().block_on(async {
                let start = Instant::now();
                let mut interval = $time::interval(ms(period));
                interval.set_missed_tick_behavior(behavior);
                let mut ticks = vec![(interval.tick().await - start).as_millis()];
                $time::sleep(ms(delay)).await;
                for _ in 0..4 {
                    ticks.push((interval.tick().await - start).as_millis());
                }
                ticks
            })
        }
    };
}

ticks_after_a_delay!(ticks_of_tokio, time);
ticks_after_a_delay!(ticks_of_wheel, wheel);

#[test]
fn each_behavior_makes_up_for_missed_ticks_as_documented() {
    use MissedTickBehavior::{Burst, Delay, Skip};
    // Late by 150 of 100 ms, once.
    let ticks = |behavior| ticks_of_wheel(100, behavior, 250);
    assert_eq!(ticks(Burst), [0, 100, 200, 300, 400]);
    assert_eq!(ticks(Delay), [0, 100, 350, 450, 550]);
    assert_eq!(ticks(Skip), [0, 100, 300, 400, 500]);
}

#[test]
fn the_tolerance_for_missed_ticks_is_tokios() {
    for behavior in [MissedTickBehavior::Delay, MissedTickBehavior::Skip] {
        for late in 0..12 {
            let (ours, theirs) = [ticks_of_wheel, ticks_of_tokio]
                .map(|ticks| ticks(50, behavior, 50 + late))
                .into();
            assert_eq!(ours, theirs, "{behavior:?}, {late} late");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_sleep_in_a_mock_task_wakes_it_once_and_is_ready() {
    let mut task = tokio_test::task::spawn(sleep(ms(10)));
    tokio_test::assert_pending!(task.poll());
    advance(ms(9)).await;
    assert!(!task.is_woken());
    advance(ms(1)).await;
    assert!(task.is_woken());
    tokio_test::assert_ready!(task.poll());
}
