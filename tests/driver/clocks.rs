//! Where the clocks of runtimes differ, side by side or nested, a timer goes by its own runtime's clock.
#![cfg(feature = "test-util")]

use std::future::pending;
use std::thread;

use futures::future::join_all;
use support::{HOUR, counting, ms, multi_thread, paused, poll, poll_quietly, within};
use tokio::runtime::{Handle, Runtime};
use tokio::task::spawn_blocking;
use wheel::{Instant, Wheel, advance, interval, sleep, sleep_until, timeout};

use crate::everywhere::{LIMIT, inside};

/// In a blocking task of a runtime whose timers are in use, a paused runtime passes two hours at once.
#[track_caller]
fn two_hours_pass_at_once(wait: impl AsyncFnOnce(Instant) + Send + 'static) {
    let nested = || {
        Handle::current().block_on(sleep(ms(1)));
        paused().block_on(async {
            let start = Instant::now();
            wait(start).await;
            assert_eq!(start.elapsed(), 2 * HOUR);
        });
        Handle::current().block_on(sleep(ms(1)));
    };
    within(LIMIT, || {
        multi_thread(2).block_on(async {
            tokio::spawn(sleep(ms(1))).await.unwrap();
            spawn_blocking(nested).await.unwrap();
        });
    });
}

#[test]
fn in_a_nested_paused_runtime_time_passes_at_once() {
    two_hours_pass_at_once(async |_| sleep(2 * HOUR).await);
    two_hours_pass_at_once(async |_| drop(timeout(2 * HOUR, pending::<()>()).await));
    two_hours_pass_at_once(async |_| {
        let mut hourly = interval(HOUR);
        for _ in 0..3 {
            hourly.tick().await;
        }
    });
    two_hours_pass_at_once(async |_| {
        join_all([(); 100].map(|()| sleep(HOUR))).await;
        tokio::join!(sleep(HOUR), tokio::spawn(sleep(HOUR)))
            .1
            .unwrap();
    });
}

#[test]
fn in_a_nested_paused_runtime_what_is_reset_before_it_is_polled_passes_at_once() {
    two_hours_pass_at_once(async |start| {
        let mut sleep = sleep(HOUR);
        sleep.reset_unpin(start + 2 * HOUR);
        sleep.await;
    });
    two_hours_pass_at_once(async |_| {
        let mut interval = interval(2 * HOUR);
        interval.reset();
        interval.tick().await;
    });
}

/// A paused runtime, and one whose clock is ten hours ahead.
fn here_and_ahead() -> (Runtime, Runtime) {
    let (here, ahead) = (paused(), paused());
    ahead.block_on(advance(10 * HOUR));
    (here, ahead)
}

#[test]
fn a_timer_of_one_runtime_polled_and_reset_in_another_keeps_its_own_clock() {
    within(LIMIT, || {
        let past = paused();
        thread::sleep(ms(1));
        let here = paused();
        let _guard = past.enter();
        let mut sleep = sleep(ms(1));
        assert!(poll_quietly(&mut sleep).is_pending());
        let deadline = sleep.deadline();
        here.block_on(async { sleep.reset_unpin(deadline + ms(1)) });
        let start = Instant::now();
        past.block_on(&mut sleep);
        assert_eq!(start.elapsed(), ms(2));
    });
}

#[test]
fn a_timer_made_in_a_task_of_one_runtime_and_first_polled_in_another_belongs_to_the_first() {
    within(LIMIT, || {
        let (here, ahead) = here_and_ahead();
        let made = here.spawn(async {
            sleep(ms(1)).await;
            (sleep(HOUR), Instant::now())
        });
        let (mut made, start) = here.block_on(made).unwrap();
        ahead.block_on(async {
            tokio::spawn(sleep(ms(1))).await.unwrap();
            assert!(poll_quietly(&mut made).is_pending());
        });
        here.block_on(async {
            assert_eq!(Wheel::current().pending(), 1);
            made.await;
            assert_eq!(start.elapsed(), HOUR);
        });
    });
}

#[test]
fn a_timer_that_is_past_by_a_foreign_clock_is_not_fired_by_it() {
    within(LIMIT, || {
        let (here, ahead) = here_and_ahead();
        let (mut timer, start) = inside(&here, || (sleep(HOUR), Instant::now()));
        // First polled, re-polled and reset where ten hours have passed.
        ahead.block_on(async {
            let (waker, count) = counting();
            assert!(poll(&mut timer, &waker).is_pending());
            assert!(!timer.is_elapsed());
            sleep(HOUR).await;
            assert!(poll(&mut timer, &waker).is_pending());
            timer.reset_unpin(start + 2 * HOUR);
            sleep(HOUR).await;
            assert!(poll(&mut timer, &waker).is_pending());
            assert_eq!(count.wakes(), 0);
        });
        here.block_on(async {
            timer.await;
            assert_eq!(start.elapsed(), 2 * HOUR);
        });
    });
}

#[test]
fn a_timer_that_is_due_by_its_own_clock_fires_though_armed_from_one_behind() {
    within(LIMIT, || {
        let (behind, here) = here_and_ahead();
        let mut due = inside(&here, || sleep_until(Instant::now() - HOUR));
        let (waker, count) = counting();
        let polled = behind.block_on(async { poll(&mut due, &waker) });
        here.block_on(async {
            let start = Instant::now();
            if polled.is_pending() {
                sleep(ms(1)).await;
                assert_eq!(count.wakes(), 1);
            }
            due.await;
            assert!(start.elapsed() <= ms(1));
        });
    });
}
