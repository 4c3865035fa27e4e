//! On a paused clock, timers are exact to the millisecond, and a cancelled timer does not make the clock advance. An interval
//! accepts the longest durations.
//!
//! `tests/as_tokio/random/paused/` compares random programs on paused clocks with Tokio's timers.
#![cfg(feature = "test-util")]

use support::prelude::*;

use tokio_test::{assert_pending, task};
use wheel::{advance, interval};

/// A way to drop a pending sleep.
type Drops = (&'static str, fn(Sleep));

const DROPS: [Drops; 3] = [
    ("here", drop),
    ("on another thread", |sleep| {
        thread::spawn(move || drop(sleep)).join().unwrap();
    }),
    ("inside another runtime", |sleep| {
        let other = support::paused();
        inside(other.handle(), || drop(sleep));
        other.shutdown_background();
    }),
];

#[tokio::test(start_paused = true)]
async fn a_dropped_sleep_does_not_advance_the_clock() {
    for (how, drop) in DROPS {
        for duration in [
            ms(1),
            secs(1),
            HOUR,
            DAY - ms(1),
            DAY + ms(1),
            20 * 365 * DAY,
        ] {
            drop(pending(duration));
            let clock = clock_after_a_real_wait().await;
            assert_eq!(clock, Duration::ZERO, "{duration:?}, dropped {how}");
        }
    }
    let thousand: Vec<_> = (1..=1000).map(|n| pending(ms(n * n))).collect();
    drop(thousand);
    assert_eq!(clock_after_a_real_wait().await, Duration::ZERO);
}

#[test]
fn a_dropped_or_extended_sleep_does_not_stop_the_clock_at_its_old_deadline() {
    let (runtime, seen) = watched();
    runtime.block_on(async {
        let start = Instant::now();
        let (tell, woken) = mpsc::channel();
        let waker = OnWake::waker(move || tell.send(Instant::now()).unwrap());
        let mut moved = armed_with(sleep(secs(3)), &waker);
        drop(pending(secs(1)));
        sleep_until(start + secs(2)).await;
        moved.reset_unpin(start + secs(10));
        sleep_until(start + secs(11)).await;
        assert!(woken.try_iter().eq([start + secs(10)]));
        let stops: Vec<_> = seen.try_iter().map(|now| now - start).collect();
        for old in [secs(1), secs(3)] {
            let is_there = |stop: &Duration| (old..old + ms(5)).contains(stop);
            assert!(!stops.iter().any(is_there), "{stops:?}");
        }
    });
}

/// Not even with other timers that are far away.
#[test]
fn one_hour_asleep_takes_few_passes() {
    let (runtime, seen) = watched();
    runtime.block_on(async {
        let _others: Vec<_> = (0..100).map(|_| pending(DAY)).collect();
        sleep(HOUR).await;
    });
    let parks = seen.try_iter().count();
    assert!(parks < 40, "{parks} parks: the driver ticks");
}

#[tokio::test]
async fn pausing_and_resuming_keeps_pending_timers() {
    let start = Instant::now();
    let long = pending(HOUR);
    wheel::pause();
    sleep(secs(60)).await;
    wheel::resume();
    sleep(ms(2)).await;
    wheel::pause();
    long.await;
    assert!(start.elapsed() >= HOUR);
    assert!(start.elapsed() < HOUR + secs(60));
}

#[tokio::test(start_paused = true)]
async fn the_clock_is_the_runtimes_own_even_if_it_lags_far_behind() {
    // Another runtime of this process, paused long before the first timer here.
    let behind = support::paused();
    let here = Instant::now();
    advance(DAY).await;
    let lag = thread::spawn(move || {
        behind.block_on(async {
            let start = Instant::now();
            sleep(secs(5)).await;
            start.elapsed()
        })
    });
    assert_eq!(lag.join().unwrap(), secs(5));
    sleep(secs(1)).await;
    assert_eq!(here.elapsed(), DAY + secs(1));
}

#[tokio::test(start_paused = true)]
async fn intervals_accept_the_longest_durations() {
    let mut long = interval(Duration::MAX);
    assert_eq!(long.period(), tokio::time::interval(Duration::MAX).period());
    long.tick().await;
    long.reset();
    long.reset_after(Duration::MAX);
    assert_pending!(task::spawn(long.tick()).poll());
    long.reset_immediately();
    long.tick().await;
}

#[tokio::test(start_paused = true)]
async fn after_an_advance_every_timer_that_is_due_has_fired_however_many() {
    let (waker, fired) = new_count_waker();
    let all = (0..10_000).map(|_| armed_with(sleep(ms(5)), &waker));
    let _all: Vec<_> = all.collect();
    advance(ms(10)).await;
    assert_eq!(fired.get(), 10_000);
}
