//! The builder refuses settings that are out of range, and no other setting changes how timers behave.

use support::prelude::*;

use std::error::Error as _;

use wheel::{BuildError, Builder};

/// Asserts that `build` and `install` refuse a setting with the same error, and returns it.
fn refused(builder: Builder) -> BuildError {
    let error = builder.clone().build().unwrap_err();
    let of_install = builder.install().unwrap_err();
    assert_eq!(of_install.to_string(), error.to_string());
    assert!(error.source().is_none());
    error
}

#[test]
fn ticks_that_are_no_whole_milliseconds_are_refused() {
    let runtime = current_thread();
    let _guard = runtime.enter();
    let unfit = [0, 1, 500_000, 999_999, 1_000_001, 1_500_000].map(Duration::from_nanos);
    for tick in unfit.into_iter().chain([DAY + ms(1), Duration::MAX]) {
        let error = refused(Builder::new().tick(tick));
        assert!(matches!(error, BuildError::Tick(refused) if refused == tick));
        let message =
            format!("invalid `tick`: {tick:?} (expected a multiple of 1 ms, up to one day)",);
        assert_eq!(error.to_string(), message);
    }
    for tick in [ms(1), ms(7), secs(1), DAY] {
        assert!(Builder::new().tick(tick).build().is_ok(), "{tick:?}");
    }
}

#[test]
fn a_spacing_needs_high_resolution_and_is_at_most_a_millisecond() {
    let runtime = current_thread();
    let _guard = runtime.enter();
    let unfit = [
        Duration::ZERO,
        ms(1) + Duration::from_nanos(1),
        Duration::MAX,
    ];
    for spacing in unfit.into_iter().chain([Duration::from_micros(100)]) {
        let error = refused(Builder::new().spacing(spacing));
        assert!(matches!(error, BuildError::Spacing(refused) if refused == spacing));
        let message = format!(
            "invalid `spacing`: {spacing:?} (expected at most 1 ms and more than 0, with `high_resolution`)",
        );
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn settings_out_of_range_are_refused_with_what_is_allowed() {
    type Set = fn(Builder, usize) -> Builder;
    let settings: [(&str, Set, &[usize], &str); 2] = [
        ("Shards `shards`", Builder::shards, &[0, 1025], "1 to 1024"),
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
            let message = format!("invalid {name}: {value} (expected {allowed})");
            assert_eq!(error.to_string(), message);
        }
    }
    // None of these has started a driver.
    assert_eq!(runtime.metrics().num_alive_tasks(), 0);
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
    let error = refused(Builder::new().high_resolution(true));
    assert!(matches!(error, BuildError::NoHighResolution));
    assert_eq!(
        error.to_string(),
        "`high_resolution` needs Linux and the cargo feature `high-resolution`"
    );
    assert_eq!(runtime.metrics().num_alive_tasks(), 0);
    assert!(Builder::new().high_resolution(false).install().is_ok());
}
