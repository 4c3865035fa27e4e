//! `Wheel::shutdown` ends a driver and no timer: each goes on where it is polled.

use crate::everywhere::*;

use wheel::{Builder, metrics};

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
        let timers = (100..150).map(|n| on_time(wheel.sleep(ms(n))));
        let timers: JoinSet<()> = timers.collect();
        // On a machine that is too slow for all of them, some.
        while wheel.pending() < 50 && start.elapsed() < ms(90) {
            yield_now().await;
        }
        let counts = wheel.metrics();
        wheel.shutdown();
        wheel.clone().shutdown();
        timers.join_all().await;
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
        let (waker, count) = new_count_waker();
        let mut timer = registered_with(wheel.sleep(ms(300)), &waker);
        let deadline = timer.deadline();
        // From a thread that is no runtime's.
        wheel.shutdown();
        // The driver task has to be driven until it ends: a single sleep may be due when first polled.
        runtime.block_on(until("woken", || count.get() == 1));
        let _guard = runtime.enter();
        if poll(&mut timer, &waker).is_pending() {
            runtime.block_on(async { tokio::time::sleep_until(deadline + ms(5)).await });
            eventually("woken again", || count.get() == 2);
        }
        assert!(poll(&mut timer, &waker).is_ready());
    });
}

/// A `select!` loop leaves a timer out that is elapsed.
#[test]
fn a_timer_of_a_driver_that_was_shut_down_is_not_elapsed_before_its_deadline() {
    in_each(async |_| {
        let wheel = coarse();
        let (waker, count) = new_count_waker();
        let mut timer = registered_with(wheel.sleep(HOUR), &waker);
        wheel.shutdown();
        while count.get() == 0 {
            yield_now().await;
        }
        assert!(!timer.is_elapsed());
        timer.reset_unpin(Instant::now() + HOUR);
        assert!(!timer.is_elapsed(), "after a reset");
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
                let new = [(); 20].map(|()| coarse());
                let (waker, count) = new_count_waker();
                let held = (new.each_ref()).map(|wheel| registered_with(wheel.sleep(HOUR), &waker));
                old.iter().for_each(Wheel::shutdown);
                sleep(ms(5)).await;
                assert_eq!(count.get(), 0);
                assert!(new.iter().all(|wheel| wheel.pending() == 1));
                drop(held.map(|timer| registered_with(timer, &waker)));
            });
        }
        drop(runtime);
        old.iter().for_each(Wheel::shutdown);
    });
}

#[test]
fn the_driver_of_the_free_functions_starts_again() {
    in_each(async |_| {
        let (waker, count) = new_count_waker();
        let mut timer = registered_with(sleep(HOUR), &waker);
        let counts = metrics();
        Wheel::current().shutdown();
        while count.get() == 0 {
            yield_now().await;
        }
        assert!(poll(&mut timer, &waker).is_pending());
        assert_eq!(counts.snapshot().cancelled, 1);
        timer.reset_unpin(Instant::now() + ms(1));
        timer.await;
        Wheel::current().shutdown();
        while Builder::new().install().is_err() {
            yield_now().await;
        }
        sleep(ms(1)).await;
    });
}

#[cfg(all(feature = "high-resolution", target_os = "linux"))]
#[test]
fn a_driver_of_high_resolution_closes_its_descriptor() {
    in_a_process_of_its_own(|| {
        in_each(async |_| {
            sleep(ms(1)).await;
            let before = descriptors();
            for _ in 0..20 {
                let wheel = Builder::new().high_resolution(true).build().unwrap();
                let timers: JoinSet<()> = (0..10).map(|n| wheel.sleep(ms(n))).collect();
                yield_now().await;
                wheel.shutdown();
                timers.join_all().await;
            }
            until("as many descriptors as before", || descriptors() <= before).await;
        });
    });
}

/// Each has room for 100,000 timers, about nine megabytes.
#[cfg(target_os = "linux")]
#[test]
fn drivers_that_come_and_go_leave_no_memory() {
    in_a_process_of_its_own(|| {
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

/// Waits for a timer. If `extend` is set, arms it first and resets it to a later deadline.
async fn treat(wheel: Wheel, after: Duration, extend: bool) {
    let mut timer = wheel.sleep(after);
    if extend {
        let _ = poll_quietly(&mut timer);
        timer.reset_unpin(Instant::now() + 2 * after);
        wheel.timeout(HOUR, yield_now()).await.unwrap();
    }
    on_time(timer).await;
}

/// A driver whose timers wait in tasks, and that is taken down meanwhile.
fn build_and_take_down(random: &mut Random) -> JoinSet<()> {
    let tick = ms(1 + random.below(4));
    let wheel = Builder::new().tick(tick).build().unwrap();
    let count = random.below(40);
    let mut timer = |_| treat(wheel.clone(), ms(random.below(6)), random.below(3) == 0);
    let timers = (0..count).map(&mut timer).collect();
    match random.below(2) {
        0 => thread::yield_now(),
        _ => thread::sleep(us(random.below(3000))),
    }
    wheel.shutdown();
    timers
}

/// Workers and threads arm, extend and cancel timers of drivers that others shut down meanwhile.
#[test]
fn in_a_storm_of_drivers_no_timer_is_lost_or_early() {
    fn storm(runtime: &Runtime, seed: u64) {
        let (mut random, mut all) = (Random::new(seed), Vec::new());
        let guard = runtime.enter();
        let start = Instant::now();
        while start.elapsed() < secs(2) {
            all.push(build_and_take_down(&mut random));
        }
        drop(guard);
        assert!(all.len() > 100);
        runtime.block_on(async {
            for timers in all {
                timers.join_all().await;
            }
            only_the_first_is_left().await;
        });
    }
    within(LIMIT, || {
        let runtime = multi_thread(2);
        thread::scope(|scope| {
            scope.spawn(|| storm(&runtime, 1));
            scope.spawn(|| storm(&multi_thread(2), 2));
        });
    });
}
