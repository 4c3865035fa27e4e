//! The builder refuses settings that are out of range, and no other setting changes how timers behave.

use support::prelude::*;

use std::error::Error as _;

use wheel::{BuildError, Builder};

/// Asserts that `build` and `install` refuse a setting with this error, and with this message.
#[track_caller]
fn assert_refused(builder: Builder, error: &str, message: &str) {
    let built = builder.clone().build().unwrap_err();
    for refused in [built, builder.install().unwrap_err()] {
        assert_eq!(format!("{refused:?}"), error);
        assert_eq!(refused.to_string(), message);
        assert!(refused.source().is_none());
    }
}

#[test]
fn settings_out_of_range_are_refused_with_what_is_allowed() {
    let runtime = current_thread();
    let _guard = runtime.enter();
    let nanos = Duration::from_nanos;
    let ticks = [0, 1, 500_000, 999_999, 1_000_001, 1_500_000].map(nanos);
    for tick in ticks.into_iter().chain([DAY + ms(1), Duration::MAX]) {
        let error = format!("Tick({tick:?})");
        let allowed = "(expected a multiple of 1 ms, up to one day)";
        let message = format!("invalid `tick`: {tick:?} {allowed}");
        assert_refused(Builder::new().tick(tick), &error, &message);
    }
    // The last would be in range with high resolution.
    for spacing in [nanos(0), nanos(1_000_001), Duration::MAX, nanos(100_000)] {
        let error = format!("Spacing({spacing:?})");
        let allowed = "(expected at most 1 ms and more than 0, with `high_resolution`)";
        let message = format!("invalid `spacing`: {spacing:?} {allowed}");
        assert_refused(Builder::new().spacing(spacing), &error, &message);
    }
    for shards in [0, 1025, usize::MAX] {
        let error = format!("Shards({shards})");
        let message = format!("invalid `shards`: {shards} (expected 1 to 1024)");
        assert_refused(Builder::new().shards(shards), &error, &message);
    }
    for capacity in [(1 << 26) + 1, usize::MAX] {
        let error = format!("Capacity({capacity})");
        let message = format!("invalid `capacity`: {capacity} (expected 0 to 67108864)");
        assert_refused(Builder::new().capacity(capacity), &error, &message);
    }
    // None of these has started a driver.
    assert_eq!(runtime.metrics().num_alive_tasks(), 0);
    for tick in [ms(1), DAY] {
        assert!(Builder::new().tick(tick).build().is_ok(), "{tick:?}");
    }
    assert!(Builder::new().shards(1024).install().is_ok());
}

#[test]
fn install_comes_before_the_first_timer_and_only_once() {
    for is_installed in [false, true] {
        for (name, runtime) in runtimes() {
            let _guard = runtime.enter();
            let installed = is_installed.then(|| Builder::new().shards(3).install().unwrap());
            let before = (!is_installed).then(|| pending(HOUR));
            let error = Builder::new().tick(secs(1)).install().unwrap_err();
            assert!(matches!(error, BuildError::AlreadyStarted));
            let message = "this runtime already has a timer driver: call `install` before the first timer \
                 and before `Handle::current()`";
            assert_eq!(error.to_string(), message);
            // The refused driver changes nothing.
            let _held = before.unwrap_or_else(|| pending(HOUR));
            let used = installed.unwrap_or_else(Timers::current);
            let pending =
                [&used, &Timers::current()].map(|wheel| wheel.metrics().snapshot().pending);
            assert_eq!(pending, [1, 1], "{name}");
            assert_eq!(runtime.metrics().num_alive_tasks(), 1);
            runtime.block_on(async { sleep(ms(1)).await });
        }
    }
}

#[cfg(feature = "test-util")]
mod paused {
    use super::*;

    #[test]
    fn a_custom_wheel_is_exact_under_a_paused_clock_whatever_its_settings() {
        for (shards, capacity) in [(1, 0), (1, 1), (7, 100_000), (64, 1000), (1024, 1000)] {
            let builder = Builder::new().shards(shards);
            paused().block_on(is_exact(builder.capacity(capacity)));
        }
        paused().block_on(is_exact(Builder::new().tick(ms(1))));
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
    let message = "`high_resolution` needs Linux and the cargo feature `high-resolution`";
    let precise = Builder::new().high_resolution(true);
    assert_refused(precise, "NoHighResolution", message);
    assert_eq!(runtime.metrics().num_alive_tasks(), 0);
    assert!(Builder::new().high_resolution(false).install().is_ok());
}
