//! A runtime has a single driver, which is a single task, is woken from anywhere, and shares no timer with others.

use crate::everywhere::*;

use std::future::pending;

async fn sleeps_once() {
    let start = Instant::now();
    sleep(ms(5)).await;
    assert!(start.elapsed() >= ms(5));
}

#[test]
fn the_driver_is_one_task() {
    with_each(|runtime| {
        let metrics = runtime.metrics();
        runtime.block_on(async { tokio::time::sleep(ms(1)).await });
        assert_eq!(metrics.num_alive_tasks(), 0, "no timers, no driver");
        let _held = inside(&runtime, || [(); 100].map(|()| sleep(HOUR))).map(registered);
        runtime.block_on(sleeps_once());
        assert_eq!(metrics.num_alive_tasks(), 1);
    });
}

#[test]
fn a_timer_armed_on_a_foreign_thread_wakes_a_driver_that_sleeps_long() {
    within(LIMIT, || {
        let runtime = multi_thread(2);
        let _guard = runtime.enter();
        drop(support::pending(HOUR));
        // Parked until the hour is over.
        thread::sleep(ms(50));
        futures::executor::block_on(sleeps_once());
    });
}

#[test]
fn arming_on_a_foreign_thread_fires_nobodys_timer() {
    within(LIMIT, || {
        let runtime = current_thread();
        let (waker, count) = counting();
        let [mut stranger, mut late] = inside(&runtime, || [300, 5].map(|n| sleep(ms(n))));
        assert!(poll(&mut stranger, &waker).is_pending());
        // tokio has passed 5 ms, and is not driven when the 300 are over.
        runtime.block_on(async { tokio::time::sleep(ms(15)).await });
        thread::sleep(ms(400));
        let before = count.wakes();
        thread::scope(|scope| {
            // Due by tokio's reckoning: an alarm set for this timer rings at once.
            scope.spawn(|| _ = poll_quietly(&mut late));
        });
        assert_eq!(count.wakes(), before, "fired by a foreign thread");
        runtime.block_on(join_all([late, stranger]));
    });
}

/// Within a blocking task. (Within a blocking section, a current-thread runtime counts as the worker
/// around it: see `contexts.rs`.)
#[test]
fn in_a_nested_runtime_timers_belong_to_it() {
    async fn belong_here() {
        // By the task's own waker, as `await` does.
        let mut held = [(); 3].map(|()| sleep(HOUR));
        for sleep in &mut held {
            assert!(futures::poll!(sleep).is_pending());
        }
        let mut never_polled = sleep(HOUR);
        never_polled.reset_unpin(Instant::now() + 2 * HOUR);
        assert_eq!(Wheel::current().pending(), 4);
    }
    within(LIMIT, || {
        multi_thread(2).block_on(async {
            tokio::spawn(sleeps_once()).await.unwrap();
            let nested = spawn_blocking(|| {
                for (name, inner) in runtimes() {
                    println!("in {name}");
                    Handle::current().block_on(sleeps_once());
                    inner.block_on(belong_here());
                }
            });
            nested.await.unwrap();
        });
    });
}

#[test]
fn a_burst_longer_than_a_turn_fires_completely_on_every_runtime() {
    in_each(async |_| {
        let deadline = Instant::now() + ms(20);
        let (waker, count) = counting();
        let mut burst: Vec<_> = (0..20_000).map(|_| sleep_until(deadline)).collect();
        let mut pending = 0;
        for sleep in &mut burst {
            pending += usize::from(poll(sleep, &waker).is_pending());
        }
        while count.wakes() < pending {
            sleep(ms(1)).await;
        }
        assert_eq!(count.wakes(), pending);
        assert!(burst.iter_mut().all(|sleep| poll_quietly(sleep).is_ready()));
    });
}

#[test]
fn a_task_that_never_yields_to_the_driver_still_sees_its_timer() {
    in_each(async |_| {
        let start = Instant::now();
        let mut sleep = sleep(ms(10));
        while futures::poll!(&mut sleep).is_pending() {
            support::load::requeue().await;
        }
        assert!(start.elapsed() >= ms(10));
    });
}

#[test]
fn an_explicit_wheel_is_exact_everywhere() {
    within(LIMIT, || {
        let runtime = multi_thread(2);
        let wheel = wheel_of(&runtime);
        // Outside of any runtime.
        let (waker, count) = counting();
        let mut sleep = registered_with(wheel.sleep(HOUR), &waker);
        assert_eq!(wheel.pending(), 1);
        sleep.reset_unpin(Instant::now() + ms(5));
        eventually("woken", || count.wakes() == 1);
        futures::executor::block_on(async {
            let soon = Instant::now() + ms(1);
            wheel.sleep(ms(1)).await;
            wheel.sleep_until(soon).await;
            wheel.timeout(ms(1), pending::<()>()).await.unwrap_err();
            wheel.timeout_at(soon, pending::<()>()).await.unwrap_err();
            wheel.interval(ms(1)).tick().await;
            assert_eq!(wheel.interval_at(soon, ms(1)).tick().await, soon);
        });
        // Inside another runtime.
        current_thread().block_on(async {
            let _sleep = registered(wheel.sleep(HOUR));
            assert_eq!(wheel.pending(), 1);
            wheel.sleep(ms(1)).await;
        });
        eventually("cancelled", || wheel.pending() == 0);
    });
}

#[test]
fn a_sleep_that_is_done_stays_with_its_driver_wherever_it_is_polled() {
    within(LIMIT, || {
        let others = current_thread();
        others.block_on(sleeps_once());
        current_thread().block_on(async {
            sleeps_once().await;
            let usual = Wheel::current();
            let own = Wheel::builder().build().unwrap();
            for (mut done, wheel) in [(own.sleep(ms(1)), &own), (usual.sleep(ms(1)), &usual)] {
                (&mut done).await;
                thread::scope(|scope| {
                    scope.spawn(|| others.block_on(&mut done));
                });
                done.reset_unpin(Instant::now() + HOUR);
                assert_eq!(wheel.pending(), 1);
                assert_eq!(own.pending() + usual.pending(), 1);
            }
        });
    });
}
