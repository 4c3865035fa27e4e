//! `Wheel::shutdown` ends a driver and no timer: each goes on where it is polled.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use futures::future::join_all;
use support::{
    HOUR, Random, counting, eventually, in_a_process_of_its_own, ms, multi_thread, poll,
    poll_quietly, registered, registered_with, resident_kib, secs, within,
};
use tokio::runtime::{Handle, Runtime};
use wheel::{Builder, DelayQueue, Instant, Wheel, metrics, sleep};

use crate::everywhere::{LIMIT, in_each, inside, until, with_each};

/// A driver whose timers wait for full hours.
fn coarse() -> Wheel {
    Builder::new().tick(HOUR).build().unwrap()
}

/// Until no other task than the runtime's own driver is left.
async fn only_the_first_is_left() {
    metrics();
    while Handle::current().metrics().num_alive_tasks() > 1 {
        sleep(ms(1)).await;
    }
}

#[test]
fn timers_of_a_driver_that_was_shut_down_elapse_at_their_deadlines() {
    in_each(async |_| {
        let wheel = coarse();
        let start = Instant::now();
        let timers = (100..150).map(|n| {
            let timer = wheel.sleep(ms(n));
            tokio::spawn(async move {
                timer.await;
                assert!(start.elapsed() >= ms(n), "early");
            })
        });
        let timers: Vec<_> = timers.collect();
        // On a machine that is too slow for all of them, some.
        while wheel.pending() < 50 && start.elapsed() < ms(90) {
            tokio::task::yield_now().await;
        }
        let counts = wheel.metrics();
        wheel.shutdown();
        wheel.clone().shutdown();
        for timer in timers {
            timer.await.unwrap();
        }
        assert!(start.elapsed() < HOUR);
        assert_eq!(wheel.pending(), 0);
        let last = counts.snapshot();
        assert_eq!((last.cancelled, last.fired), (last.registered, 0));
        only_the_first_is_left().await;
        // Made with the handle after the end.
        wheel.sleep(ms(1)).await;
        let late = wheel.timeout(ms(1), std::future::pending::<()>()).await;
        assert!(late.is_err());
    });
}

#[test]
fn a_pending_timer_is_woken_once_and_then_at_its_deadline() {
    with_each(|runtime| {
        let wheel = inside(&runtime, coarse);
        let (waker, count) = counting();
        let mut timer = registered_with(wheel.sleep(ms(300)), &waker);
        let deadline = timer.deadline();
        // From a thread that is no runtime's.
        wheel.shutdown();
        // The driver task has to be driven until it ends: a single sleep may be due when first polled.
        runtime.block_on(until("woken", || count.wakes() == 1));
        let _guard = runtime.enter();
        if poll(&mut timer, &waker).is_pending() {
            assert_eq!(Wheel::current().pending(), 1);
            runtime.block_on(async { tokio::time::sleep_until(deadline + ms(5)).await });
            eventually("woken again", || count.wakes() == 2);
        }
        assert!(poll(&mut timer, &waker).is_ready());
    });
}

/// A driver that has ended serves the next that wants the same: its former handles do nothing to it.
#[test]
fn a_shutdown_by_an_old_handle_ends_no_other_driver() {
    with_each(|runtime| {
        let old: Vec<Wheel> = runtime.block_on(async {
            let old: Vec<_> = (0..10).map(|_| coarse()).collect();
            old.iter().for_each(Wheel::shutdown);
            only_the_first_is_left().await;
            old
        });
        let another = multi_thread(2);
        for place in [&runtime, &another] {
            place.block_on(async {
                let new: Vec<_> = (0..20).map(|_| coarse()).collect();
                let (waker, count) = counting();
                let mut held: Vec<_> = new
                    .iter()
                    .map(|wheel| registered_with(wheel.sleep(HOUR), &waker))
                    .collect();
                old.iter().for_each(Wheel::shutdown);
                sleep(ms(5)).await;
                assert_eq!(count.wakes(), 0);
                assert!(new.iter().all(|wheel| wheel.pending() == 1));
                assert!(
                    held.iter_mut()
                        .all(|timer| poll(timer, &waker).is_pending())
                );
            });
        }
        drop(runtime);
        old.iter().for_each(Wheel::shutdown);
    });
}

#[test]
fn the_driver_of_the_free_functions_starts_again() {
    in_each(async |_| {
        let (waker, count) = counting();
        let mut timer = registered_with(sleep(HOUR), &waker);
        let counts = metrics();
        Wheel::current().shutdown();
        while count.wakes() == 0 {
            tokio::task::yield_now().await;
        }
        assert!(poll(&mut timer, &waker).is_pending());
        assert_eq!(counts.snapshot().cancelled, 1);
        timer.reset_unpin(Instant::now() + ms(1));
        timer.await;
        Wheel::current().shutdown();
        while Builder::new().install().is_err() {
            tokio::task::yield_now().await;
        }
        sleep(ms(1)).await;
    });
}

#[test]
fn a_wheels_timers_go_on_in_another_runtime() {
    with_each(|runtime| {
        let wheel = inside(&runtime, coarse);
        let timers = [wheel.sleep(ms(5)), registered(wheel.sleep(ms(10)))];
        drop(runtime);
        multi_thread(1).block_on(async {
            let timers = timers.into_iter().chain([wheel.sleep(ms(15))]);
            for timer in timers {
                let deadline = timer.deadline();
                timer.await;
                assert!(Instant::now() >= deadline, "early");
            }
        });
    });
}

#[test]
fn a_queue_goes_on_without_its_driver() {
    in_each(async |_| {
        let wheel = coarse();
        let mut queue = DelayQueue::with_wheel(&wheel);
        let start = Instant::now();
        (1..=20).for_each(|n| _ = queue.insert(n, ms(n)));
        tokio::spawn(async move {
            tokio::task::yield_now().await;
            wheel.shutdown();
        });
        for n in 1..=20 {
            assert_eq!(queue.next().await.unwrap().into_inner(), n);
            assert!(start.elapsed() >= ms(n), "early");
        }
    });
}

#[cfg(all(feature = "high-resolution", target_os = "linux"))]
#[test]
fn a_driver_of_high_resolution_closes_its_descriptor() {
    fn descriptors() -> usize {
        std::fs::read_dir("/proc/self/fd").unwrap().count()
    }
    if in_a_process_of_its_own() {
        return;
    }
    in_each(async |_| {
        sleep(ms(1)).await;
        let before = descriptors();
        for _ in 0..20 {
            let wheel = Builder::new().high_resolution(true).build().unwrap();
            let timers = (0..10).map(|n| tokio::spawn(wheel.sleep(ms(n))));
            let timers: Vec<_> = timers.collect();
            tokio::task::yield_now().await;
            wheel.shutdown();
            for timer in timers {
                timer.await.unwrap();
            }
        }
        for _ in 0..1000 {
            if descriptors() <= before {
                return;
            }
            sleep(ms(1)).await;
        }
        panic!("{} descriptors, then {}", before, descriptors());
    });
}

/// Each has room for 100,000 timers, about nine megabytes.
#[cfg(target_os = "linux")]
#[test]
fn drivers_that_come_and_go_leave_no_memory() {
    if in_a_process_of_its_own() {
        return;
    }
    within(LIMIT, || {
        multi_thread(2).block_on(async {
            let before = resident_kib().unwrap();
            for _ in 0..100 {
                let wheel = Builder::new().capacity(100_000).build().unwrap();
                wheel.sleep(Duration::ZERO).await;
                wheel.shutdown();
                only_the_first_is_left().await;
            }
            let grown = resident_kib().unwrap().saturating_sub(before);
            assert!(grown < 50 * 1024, "{grown} KiB more");
        });
    });
}

/// Workers and threads arm, put off and cancel timers of drivers that others take down meanwhile.
#[test]
fn in_a_storm_of_drivers_no_timer_is_lost_or_early() {
    fn storm(runtime: &Runtime, seed: u64) {
        let done = Arc::new(AtomicUsize::new(0));
        let over = Arc::new(AtomicBool::new(false));
        let handle = runtime.handle().clone();
        let taking_down = thread::spawn({
            let over = over.clone();
            move || {
                let mut random = Random::new(seed);
                let _guard = handle.enter();
                while !over.load(Ordering::Relaxed) {
                    let wheel = Builder::new()
                        .tick(ms(1 + random.below(4)))
                        .build()
                        .unwrap();
                    let timers = (0..random.below(40)).map(|_| {
                        let (wheel, after) = (wheel.clone(), ms(random.below(6)));
                        let put_off = random.below(3) == 0;
                        tokio::spawn(async move {
                            let mut timer = wheel.sleep(after);
                            if put_off {
                                let _ = poll_quietly(&mut timer);
                                timer.reset_unpin(Instant::now() + 2 * after);
                                drop(wheel.timeout(HOUR, tokio::task::yield_now()).await);
                            }
                            let deadline = timer.deadline();
                            timer.await;
                            assert!(Instant::now() >= deadline, "early");
                        })
                    });
                    let timers: Vec<_> = timers.collect();
                    if random.below(2) == 0 {
                        thread::yield_now();
                    } else {
                        thread::sleep(Duration::from_micros(random.below(3000)));
                    }
                    wheel.shutdown();
                    let done = done.clone();
                    tokio::spawn(async move {
                        for timer in join_all(timers).await {
                            timer.unwrap();
                        }
                        done.fetch_add(1, Ordering::Relaxed);
                    });
                }
                done
            }
        });
        thread::sleep(secs(2));
        over.store(true, Ordering::Relaxed);
        let done = taking_down.join().unwrap();
        runtime.block_on(only_the_first_is_left());
        assert!(done.load(Ordering::Relaxed) > 100);
    }
    within(LIMIT, || {
        let runtime = multi_thread(2);
        thread::scope(|scope| {
            scope.spawn(|| storm(&runtime, 1));
            scope.spawn(|| storm(&multi_thread(2), 2));
        });
    });
}

#[cfg(feature = "test-util")]
mod paused {
    use support::paused;

    use super::*;

    #[test]
    fn on_a_paused_clock_a_timer_goes_on_to_the_millisecond() {
        paused().block_on(async {
            let wheel = coarse();
            let start = Instant::now();
            let timers = (1..=100).map(|n| {
                let timer = wheel.sleep(ms(n));
                tokio::spawn(async move {
                    timer.await;
                    (n, start.elapsed())
                })
            });
            let timers: Vec<_> = timers.collect();
            sleep(ms(50)).await;
            wheel.shutdown();
            for timer in join_all(timers).await {
                let (n, elapsed) = timer.unwrap();
                assert_eq!(elapsed, ms(n.max(50)));
            }
        });
    }
}
