//! Settings: what is refused, and that none of the others changes what timers do.

use std::error::Error as _;
use std::time::Duration;

use support::{DAY, HOUR, current_thread, ms, multi_thread, poll_quietly, runtimes, secs, within};
use wheel::{BuildError, Builder, Instant, Wheel, sleep};

/// What is refused is refused in the same way by `build` and by `install`.
fn refused(builder: Builder) -> BuildError {
    let error = builder.clone().build().unwrap_err();
    assert_eq!(
        builder.install().unwrap_err().to_string(),
        error.to_string()
    );
    assert!(error.source().is_none());
    error
}

#[test]
fn ticks_that_do_not_fit_a_millisecond_are_refused() {
    let runtime = current_thread();
    let _guard = runtime.enter();
    let unfit = [0, 3, 999_999, 1_000_001, 1_500_000].map(Duration::from_nanos);
    for tick in unfit.into_iter().chain([DAY + ms(1), Duration::MAX]) {
        let error = refused(Builder::new().tick(tick));
        assert!(matches!(error, BuildError::Tick(refused) if refused == tick));
        let message = format!(
            "`tick` is {tick:?}: allowed is a divisor of a millisecond, or a multiple of one up to a day",
        );
        assert_eq!(error.to_string(), message);
    }
    let fit = [1, 62_500, 1000, 250_000, 500_000].map(Duration::from_nanos);
    for tick in fit.into_iter().chain([ms(1), ms(7), secs(1), DAY]) {
        assert!(Builder::new().tick(tick).build().is_ok(), "{tick:?}");
    }
}

#[test]
fn settings_out_of_range_are_refused_with_what_is_allowed() {
    type Set = fn(Builder, usize) -> Builder;
    let settings: [(&str, Set, &[usize], &str); 3] = [
        ("Shards `shards`", Builder::shards, &[0, 1025], "1 to 1024"),
        (
            "EntriesPerHold `entries_per_hold`",
            Builder::entries_per_hold,
            &[0, 4097],
            "1 to 4096",
        ),
        (
            "Capacity `capacity`",
            Builder::capacity,
            &[(1 << 26) + 1],
            "0 to 67108864",
        ),
    ];
    let runtime = current_thread();
    let _guard = runtime.enter();
    for (names, set, values, allowed) in settings {
        let (variant, name) = names.split_once(' ').unwrap();
        for &value in values.iter().chain(&[usize::MAX]) {
            let error = refused(set(Builder::new(), value));
            assert_eq!(format!("{error:?}"), format!("{variant}({value})"));
            let message = format!("{name} is {value}: allowed is {allowed}");
            assert_eq!(error.to_string(), message);
        }
    }
    // None of these has started anything.
    assert_eq!(runtime.metrics().num_alive_tasks(), 0);
    let largest = Builder::new().shards(1024).entries_per_hold(4096);
    assert!(largest.install().is_ok());
}

#[test]
fn install_comes_before_the_first_timer_and_only_once() {
    for (name, runtime) in runtimes() {
        let _guard = runtime.enter();
        let installed = Builder::new().shards(3).install().unwrap();
        let error = Builder::new().install().unwrap_err();
        assert!(matches!(error, BuildError::AlreadyStarted));
        assert_eq!(
            error.to_string(),
            "this runtime's timers have a driver already: install one before the first timer",
        );
        let mut held = sleep(HOUR);
        assert!(poll_quietly(&mut held).is_pending());
        assert_eq!(installed.pending(), 1, "{name}: the free functions use it");
        assert_eq!(Wheel::current().pending(), 1);
        assert_eq!(runtime.metrics().num_alive_tasks(), 1);
    }
}

#[test]
fn install_after_the_first_timer_is_refused_and_changes_nothing() {
    for (_, runtime) in runtimes() {
        let _guard = runtime.enter();
        let mut held = sleep(HOUR);
        assert!(poll_quietly(&mut held).is_pending());
        let refused = Builder::new().tick(secs(1)).install();
        assert!(matches!(refused, Err(BuildError::AlreadyStarted)));
        assert_eq!(Wheel::current().pending(), 1);
        assert_eq!(runtime.metrics().num_alive_tasks(), 1);
        assert!(!held.is_elapsed());
        runtime.block_on(async { sleep(ms(1)).await });
    }
}

#[test]
fn wheels_of_one_runtime_are_independent() {
    within(secs(60), || {
        for (_, runtime) in runtimes() {
            runtime.block_on(async {
                let [one, two] = [(); 2].map(|()| Builder::new().build().unwrap());
                let held = (0..8).map(|n| if n < 3 { &one } else { &two }.sleep(HOUR));
                let mut held: Vec<_> = held.collect();
                for sleep in &mut held {
                    assert!(poll_quietly(sleep).is_pending());
                }
                assert_eq!((one.pending(), two.pending()), (3, 5));
                assert_eq!(Wheel::current().pending(), 0);
                tokio::join!(one.sleep(ms(2)), two.sleep(ms(1)), sleep(ms(1)));
                drop(held);
                assert_eq!((one.pending(), two.pending()), (0, 0));
            });
        }
    });
}

#[test]
fn any_number_of_shards_and_any_hold_fires_everything() {
    within(secs(120), || {
        for runtime in [current_thread(), multi_thread(2)] {
            for (shards, hold) in [(1, 1), (1, 4096), (7, 1), (7, 16), (64, 4096), (1024, 3)] {
                let builder = Builder::new().shards(shards).entries_per_hold(hold);
                runtime.block_on(fires_everything(builder.capacity(10_000)));
            }
        }
    });
}

async fn fires_everything(builder: Builder) {
    let wheel = builder.build().unwrap();
    let tasks = (0..2000).map(|n| {
        let wheel = wheel.clone();
        tokio::spawn(async move {
            let start = Instant::now();
            wheel.sleep(ms(n % 20)).await;
            assert!(start.elapsed() >= ms(n % 20));
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    assert_eq!(wheel.pending(), 0);
}

#[cfg(feature = "test-util")]
mod paused {
    use super::*;
    use support::{counting, paused, poll};
    use wheel::advance;

    #[tokio::test(start_paused = true)]
    async fn a_coarse_tick_rounds_deadlines_up_to_its_multiples() {
        let start = Instant::now();
        let wheel = Builder::new().tick(ms(10)).build().unwrap();
        for (asked, taken) in [(1, 10), (9, 20), (10, 30), (11, 50), (20, 70), (25, 100)] {
            wheel.sleep(ms(asked)).await;
            assert_eq!(start.elapsed(), ms(taken), "{asked}");
        }
        wheel.sleep(Duration::from_nanos(1)).await;
        assert_eq!(start.elapsed(), ms(110));
        wheel.sleep_until(start + ms(120)).await;
        assert_eq!(start.elapsed(), ms(120));
        // The free functions are not affected.
        sleep(ms(1)).await;
        assert_eq!(start.elapsed(), ms(121));
    }

    #[tokio::test(start_paused = true)]
    async fn a_coarse_tick_shares_wake_ups_and_applies_to_resets() {
        let wheel = Builder::new().tick(secs(1)).build().unwrap();
        let (waker, count) = counting();
        let mut timers: Vec<_> = (1..=100).map(|n| wheel.sleep(ms(n * 10))).collect();
        for sleep in &mut timers {
            assert!(poll(sleep, &waker).is_pending());
        }
        advance(ms(999)).await;
        assert_eq!(count.wakes(), 0);
        advance(ms(1)).await;
        assert_eq!(count.wakes(), 100);

        let start = Instant::now();
        let mut moved = wheel.sleep(HOUR);
        moved.reset_unpin(start + ms(1));
        assert_eq!(moved.deadline(), start + ms(1), "as it was asked for");
        moved.await;
        assert_eq!(start.elapsed(), secs(1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_coarse_tick_keeps_an_intervals_rate() {
        let start = Instant::now();
        let wheel = Builder::new().tick(ms(10)).build().unwrap();
        let mut ticking = wheel.interval_at(start + ms(3), ms(7));
        for n in 0..100 {
            assert_eq!(ticking.tick().await, start + ms(3 + 7 * n));
            let elapsed = start.elapsed();
            assert!(elapsed >= ms(3 + 7 * n) && elapsed < ms(13 + 7 * n));
        }
    }

    #[test]
    fn ticks_that_divide_a_millisecond_are_exact() {
        for tick in [Duration::from_nanos(1), Duration::from_micros(250), ms(1)] {
            paused().block_on(async {
                let wheel = Builder::new().tick(tick).build().unwrap();
                for millis in [1, 2, 63, 64, 65, 1000, 4095, 4096, 100_000, 86_400_000] {
                    let start = Instant::now();
                    wheel.sleep(ms(millis)).await;
                    assert_eq!(start.elapsed(), ms(millis), "{tick:?}");
                }
            });
        }
    }

    #[test]
    fn a_custom_wheel_is_exact_under_a_paused_clock_whatever_its_settings() {
        for (shards, hold, capacity) in [(1, 1, 0), (1, 4096, 1), (7, 1, 100_000), (64, 16, 1000)] {
            let builder = Builder::new().shards(shards).entries_per_hold(hold);
            paused().block_on(is_exact(builder.capacity(capacity)));
        }
    }

    async fn is_exact(builder: Builder) {
        let wheel = builder.build().unwrap();
        let start = Instant::now();
        let sleeps = (0..500).map(async |n| {
            wheel.sleep(ms(n * 37 % 1000)).await;
            assert_eq!(start.elapsed(), ms(n * 37 % 1000));
        });
        futures::future::join_all(sleeps).await;
        wheel.sleep(HOUR).await;
        assert_eq!(start.elapsed().as_secs(), 3600);
        let mut dropped = wheel.sleep(secs(1));
        assert!(poll_quietly(&mut dropped).is_pending());
        drop(dropped);
        let before = Instant::now();
        let real_time = tokio::task::spawn_blocking(|| std::thread::sleep(ms(10)));
        real_time.await.unwrap();
        assert_eq!(before.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn an_installed_coarse_tick_applies_to_the_free_functions() {
        let start = Instant::now();
        Builder::new().tick(ms(100)).install().unwrap();
        sleep(ms(1)).await;
        assert_eq!(start.elapsed(), ms(100));
        let late = wheel::timeout(ms(1), std::future::pending::<()>());
        assert!(late.await.is_err());
        assert_eq!(start.elapsed(), ms(200));
    }
}

#[test]
#[cfg(not(all(feature = "high-resolution", target_os = "linux")))]
fn high_resolution_is_refused_where_there_is_none() {
    let runtime = current_thread();
    let _guard = runtime.enter();
    let error = refused(Builder::new().high_resolution(true));
    assert!(matches!(error, BuildError::NoHighResolution));
    assert_eq!(
        error.to_string(),
        "`high_resolution` needs Linux, and the cargo feature `high-resolution`"
    );
    assert_eq!(runtime.metrics().num_alive_tasks(), 0);
    assert!(Builder::new().high_resolution(false).install().is_ok());
}
