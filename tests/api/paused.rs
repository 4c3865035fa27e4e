//! Under a paused clock: exact to the millisecond, never later than tokio's own
//! timers, and drawn by nothing that was cancelled.
#![cfg(feature = "test-util")]

use std::future::pending;
use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use futures::future::join_all;
use support::{
    Count, DAY, HOUR, Log, OnWake, Random, counting, ms, poll, poll_quietly, secs, within,
};
use tokio::io::AsyncReadExt as _;
use tokio::sync::oneshot;
use wheel::{Instant, advance, interval, sleep, sleep_until, timeout};

const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

/// Durations where a wheel of any shape has its seams.
fn table() -> Vec<Duration> {
    let mut table: Vec<u64> = (1..=130).collect();
    for bit in 2..40 {
        let power = 1_u64 << bit;
        table.extend([power - 1, power, power + 1]);
    }
    for unit in [
        1000,
        60_000,
        3_600_000,
        86_400_000,
        7 * 86_400_000,
        365 * 86_400_000,
    ] {
        table.extend([unit - 1, unit, unit + 1, 2 * unit, 10 * unit]);
    }
    // In nanoseconds, the wheel's own unit, the seams are elsewhere.
    for bit in 20..60 {
        let nanos = 1_u64 << bit;
        table.extend([nanos / 1_000_000, nanos / 1_000_000 + 1]);
    }
    table.push(30 * 365 * 86_400_000);
    table.retain(|&millis| millis > 0 && millis <= 30 * 365 * 86_400_000);
    table.into_iter().map(ms).collect()
}

async fn each_is_exact() {
    for duration in table() {
        let start = Instant::now();
        sleep(duration).await;
        assert_eq!(start.elapsed(), duration);
    }
}

#[tokio::test(start_paused = true)]
async fn every_duration_is_exact_to_the_millisecond() {
    // A clock may not reach beyond 584 years: shorter ones first, then each anew.
    each_is_exact().await;
}

#[tokio::test(start_paused = true)]
async fn every_duration_is_exact_beside_longer_timers() {
    let mut month = sleep(30 * DAY);
    let mut year = sleep(YEAR);
    assert!(poll_quietly(&mut month).is_pending());
    assert!(poll_quietly(&mut year).is_pending());
    let start = Instant::now();
    for duration in table().into_iter().filter(|&duration| duration <= DAY) {
        let start = Instant::now();
        sleep(duration).await;
        assert_eq!(start.elapsed(), duration);
    }
    month.await;
    assert_eq!(start.elapsed(), 30 * DAY);
    year.await;
    assert_eq!(start.elapsed(), YEAR);
}

#[tokio::test(start_paused = true)]
async fn durations_are_exact_from_odd_starting_points() {
    let mut random = Random::new(7);
    for _ in 0..300 {
        advance(ms(random.of_any_size(36))).await;
        let duration = ms(1 + random.of_any_size(32));
        let start = Instant::now();
        sleep(duration).await;
        assert_eq!(start.elapsed(), duration);
    }
}

#[tokio::test(start_paused = true)]
async fn a_later_timer_does_not_hide_an_earlier_one_in_a_wider_slot() {
    // glommio #44, in several units.
    for unit in [1, 64, 4096, 1 << 18] {
        let start = Instant::now();
        let mut first = sleep(ms(300 * unit));
        assert!(poll_quietly(&mut first).is_pending());
        advance(ms(250 * unit)).await;
        let mut second = sleep_until(start + ms(400 * unit));
        assert!(poll_quietly(&mut second).is_pending());
        first.await;
        assert_eq!(start.elapsed(), ms(300 * unit));
        second.await;
        assert_eq!(start.elapsed(), ms(400 * unit));
    }
}

#[tokio::test(start_paused = true)]
async fn the_longest_sleeps_complete() {
    let start = Instant::now();
    sleep(Duration::MAX).await;
    assert_eq!(start.elapsed(), 30 * YEAR);
    let start = Instant::now();
    sleep(Duration::MAX - ms(1)).await;
    assert_eq!(start.elapsed(), 30 * YEAR);
}

#[tokio::test(start_paused = true)]
async fn a_sleep_of_centuries_disturbs_nobody() {
    // tokio #5183 and the hang of 12 days, #8334.
    let centuries = Instant::now() + 300 * YEAR;
    tokio::spawn(sleep_until(centuries));
    for millis in [(1 << 24) + 10, (1 << 30) - 1, 1 << 30, (1 << 36) + 5] {
        advance(ms(millis)).await;
        let start = Instant::now();
        sleep(ms(10)).await;
        assert_eq!(start.elapsed(), ms(10));
    }
}

#[test]
fn virtual_days_pass_in_real_seconds() {
    within(secs(120), || {
        support::paused().block_on(async {
            let start = Instant::now();
            // A day of seconds, beside 100 idle connections of a day each.
            let idle = join_all((0..100).map(|_| sleep(DAY)));
            let busy = async {
                for _ in 0..24 * 3600 {
                    sleep(secs(1)).await;
                }
            };
            tokio::join!(idle, busy);
            assert_eq!(start.elapsed(), DAY);
        });
    });
}

/// Runs the same sleeps from the same place inside a millisecond.
macro_rules! elapsed_with {
    ($name:ident, $($time:tt)+) => {
        fn $name(phase: u64, sleeps: &[u64]) -> Vec<Duration> {
            use $($time)+ as time;
            support::paused().block_on(async {
                time::advance(Duration::from_nanos(phase)).await;
                let mut elapsed = Vec::new();
                for &nanos in sleeps {
                    let start = time::Instant::now();
                    time::sleep(Duration::from_nanos(nanos)).await;
                    elapsed.push(start.elapsed());
                }
                elapsed
            })
        }
    };
}

elapsed_with!(elapsed_with_tokio, tokio::time);
elapsed_with!(elapsed_with_wheel, wheel);

#[test]
fn ten_thousand_sub_millisecond_sleeps_take_no_longer_than_tokios() {
    for round in 0..50 {
        let mut random = Random::new(round + 1);
        let phase = random.below(5_000_000);
        let sleeps: Vec<u64> = (0..200).map(|_| 1 + random.below(1_000_000)).collect();
        let theirs = elapsed_with_tokio(phase, &sleeps);
        let ours = elapsed_with_wheel(phase, &sleeps);
        for ((nanos, theirs), ours) in sleeps.iter().zip(&theirs).zip(&ours) {
            assert!(*ours >= Duration::from_nanos(*nanos), "early");
            assert!(ours <= theirs, "{nanos} ns, paused at {phase} ns");
        }
    }
}

#[test]
fn sleeps_of_any_length_take_no_longer_than_tokios_wherever_the_clock_was_paused() {
    for round in 0..40 {
        let mut random = Random::new(1000 + round);
        let phase = random.of_any_size(40);
        let sleeps: Vec<u64> = (0..50).map(|_| 1 + random.of_any_size(50)).collect();
        let ours = elapsed_with_wheel(phase, &sleeps);
        let theirs = elapsed_with_tokio(phase, &sleeps);
        for ((&nanos, ours), theirs) in sleeps.iter().zip(ours).zip(theirs) {
            assert!(
                ours >= Duration::from_nanos(nanos),
                "early in round {round}"
            );
            assert!(ours <= theirs, "later than tokio's in round {round}");
        }
    }
}

/// Many sleeps at once: when does each complete?
macro_rules! crowd_with {
    ($name:ident, $($time:tt)+) => {
        fn $name(phase: u64, sleeps: &[u64]) -> Vec<Duration> {
            use $($time)+ as time;
            support::paused().block_on(async {
                time::advance(Duration::from_nanos(phase)).await;
                let start = time::Instant::now();
                let crowd = sleeps.iter().map(|&nanos| tokio::spawn(async move {
                    time::sleep(Duration::from_nanos(nanos)).await;
                    start.elapsed()
                }));
                let crowd: Vec<_> = crowd.collect();
                join_all(crowd).await.into_iter().map(Result::unwrap).collect()
            })
        }
    };
}

crowd_with!(crowd_with_tokio, tokio::time);
crowd_with!(crowd_with_wheel, wheel);

#[test]
fn a_crowd_of_sleeps_completes_when_tokios_does_or_a_millisecond_before() {
    for round in 0..30 {
        let mut random = Random::new(500 + round);
        let phase = random.below(3_000_000);
        let sleeps: Vec<u64> = (0..100).map(|_| 1 + random.of_any_size(44)).collect();
        let ours = crowd_with_wheel(phase, &sleeps);
        let theirs = crowd_with_tokio(phase, &sleeps);
        for ((nanos, ours), theirs) in sleeps.iter().zip(ours).zip(theirs) {
            assert!(ours >= Duration::from_nanos(*nanos), "early");
            // Where the clock stops for another's sake, inside the millisecond
            // that tokio rounds up to, an exact deadline may have passed already.
            let early = theirs.checked_sub(ours).expect("later than tokio's");
            assert!(early <= ms(1), "{nanos} ns, round {round}");
        }
    }
}

#[tokio::test]
async fn a_clock_paused_at_any_moment_is_never_a_millisecond_late() {
    wheel::pause();
    for _ in 0..200 {
        let start = Instant::now();
        sleep(ms(1) + Duration::from_nanos(1)).await;
        let elapsed = start.elapsed();
        assert!(elapsed > ms(1) && elapsed <= ms(2), "{elapsed:?}");
    }
}

#[test]
fn a_sleep_of_nothing_takes_no_longer_than_tokios() {
    for phase in [0, 1, 500_000, 999_999, 1_000_000] {
        let theirs = elapsed_with_tokio(phase, &[0; 20]);
        let ours = elapsed_with_wheel(phase, &[0; 20]);
        assert!(
            ours.iter()
                .zip(&theirs)
                .all(|(ours, theirs)| ours <= theirs),
            "{phase}"
        );
    }
}

#[test]
fn the_same_run_is_the_same_twice() {
    let sleeps: Vec<u64> = (0..500).map(|n| n * 7919 % 1_000_000).collect();
    assert_eq!(
        elapsed_with_wheel(0, &sleeps),
        elapsed_with_wheel(0, &sleeps)
    );
}

/// Waits 50 ms of real time for a thread; what the paused clock shows then.
async fn clock_after_a_real_wait() -> Duration {
    let start = Instant::now();
    let (tx, rx) = oneshot::channel();
    thread::spawn(move || {
        thread::sleep(ms(50));
        tx.send(()).unwrap();
    });
    rx.await.unwrap();
    start.elapsed()
}

#[tokio::test(start_paused = true)]
async fn without_timers_time_stands_still() {
    assert_eq!(clock_after_a_real_wait().await, Duration::ZERO);
    sleep(ms(5)).await;
    assert_eq!(clock_after_a_real_wait().await, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_sleep_does_not_draw_time() {
    for duration in [ms(1), secs(1), HOUR, DAY - ms(1)] {
        let mut dropped = sleep(duration);
        assert!(poll_quietly(&mut dropped).is_pending());
        drop(dropped);
        assert_eq!(
            clock_after_a_real_wait().await,
            Duration::ZERO,
            "{duration:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_sleep_of_many_days_does_not_draw_time() {
    for duration in [DAY + ms(1), 40 * DAY, 20 * YEAR] {
        let mut dropped = sleep(duration);
        assert!(poll_quietly(&mut dropped).is_pending());
        drop(dropped);
        assert_eq!(
            clock_after_a_real_wait().await,
            Duration::ZERO,
            "{duration:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_thousand_dropped_sleeps_do_not_draw_time() {
    let mut dropped: Vec<_> = (1..=1000).map(|n| sleep(ms(n * n))).collect();
    for sleep in &mut dropped {
        assert!(poll_quietly(sleep).is_pending());
    }
    drop(dropped);
    assert_eq!(clock_after_a_real_wait().await, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn what_a_timeout_leaves_behind_does_not_draw_time() {
    let answered = timeout(secs(30), clock_after_a_real_wait());
    // While it is pending, its deadline does draw time, as tokio's.
    assert!(answered.await.is_err());
    let (tx, rx) = oneshot::channel();
    tokio::spawn(async move { tx.send(()) });
    timeout(secs(30), rx).await.unwrap().unwrap();
    assert_eq!(clock_after_a_real_wait().await, Duration::ZERO);

    let mut ticking = interval(secs(1));
    ticking.tick().await;
    assert_eq!(clock_after_a_real_wait().await, Duration::ZERO);
    assert!(poll_quietly(&mut Box::pin(ticking.tick())).is_pending());
    drop(ticking);
    assert_eq!(clock_after_a_real_wait().await, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_sleep_dropped_on_another_thread_does_not_draw_time() {
    let mut dropped = sleep(secs(1));
    assert!(poll_quietly(&mut dropped).is_pending());
    thread::spawn(move || drop(dropped)).join().unwrap();
    assert_eq!(clock_after_a_real_wait().await, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_sleep_dropped_inside_another_runtime_does_not_draw_time() {
    let mut dropped = sleep(secs(1));
    assert!(poll_quietly(&mut dropped).is_pending());
    let other = support::paused();
    {
        let _guard = other.enter();
        drop(dropped);
    }
    assert_eq!(clock_after_a_real_wait().await, Duration::ZERO);
    drop(thread::spawn(move || drop(other)).join());
}

#[tokio::test(start_paused = true)]
async fn an_interval_that_has_ticked_draws_time_only_when_polled() {
    let mut ticking = interval(secs(1));
    ticking.tick().await;
    ticking.tick().await;
    assert_eq!(clock_after_a_real_wait().await, Duration::ZERO);
    let start = Instant::now();
    ticking.tick().await;
    assert_eq!(start.elapsed(), secs(1));
}

/// A paused runtime, and what its clock shows whenever it parks.
fn watched() -> (tokio::runtime::Runtime, Log<Instant>) {
    let seen = Log::new();
    let log = seen.clone();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .on_thread_park(move || log.push(Instant::now()))
        .build()
        .unwrap();
    (runtime, seen)
}

fn clock_shown(seen: &Log<Instant>, start: Instant) -> impl Iterator<Item = Duration> + use<> {
    seen.entries().into_iter().map(move |now| now - start)
}

#[track_caller]
fn assert_no_stop_after_a_second(seen: &Log<Instant>, start: Instant) {
    let stops: Vec<_> = clock_shown(seen, start).collect();
    let mut there = stops
        .iter()
        .filter(|stop| (secs(1)..ms(1005)).contains(stop));
    assert!(there.next().is_none(), "{stops:?}");
}

#[test]
fn a_dropped_sleep_does_not_stop_the_clock_on_its_way_to_the_next() {
    let (runtime, seen) = watched();
    runtime.block_on(async {
        let start = Instant::now();
        let mut first = sleep(secs(1));
        assert!(poll_quietly(&mut first).is_pending());
        let (waker, count) = counting();
        let mut second = sleep(secs(10));
        assert!(poll(&mut second, &waker).is_pending());
        drop(first);
        second.await;
        assert_eq!(start.elapsed(), secs(10));
        assert_eq!(count.wakes(), 0, "polled since with another waker");
        assert_no_stop_after_a_second(&seen, start);
    });
}

#[test]
fn a_sleep_put_off_does_not_stop_the_clock_at_its_old_deadline() {
    let (runtime, seen) = watched();
    runtime.block_on(async {
        let start = Instant::now();
        let (waker, count) = counting();
        let mut moved = sleep(secs(1));
        assert!(poll(&mut moved, &waker).is_pending());
        moved.reset_unpin(start + secs(10));
        sleep_until(start + secs(9)).await;
        assert_eq!(count.wakes(), 0);
        sleep_until(start + secs(10)).await;
        assert_eq!(count.wakes(), 1);
        assert_eq!(start.elapsed(), secs(10));
        assert_no_stop_after_a_second(&seen, start);
    });
}

#[test]
fn one_hour_asleep_takes_few_turns() {
    let (runtime, seen) = watched();
    runtime.block_on(async {
        sleep(HOUR).await;
    });
    let parks = seen.entries().len();
    assert!(parks < 40, "{parks} parks: the driver ticks");
}

#[tokio::test(start_paused = true)]
async fn one_wake_and_no_more() {
    let (waker, count) = counting();
    let mut one = sleep(secs(10));
    assert!(poll(&mut one, &waker).is_pending());
    sleep(ms(9_999)).await;
    assert_eq!(count.wakes(), 0);
    sleep(ms(1)).await;
    assert_eq!(count.wakes(), 1);
    sleep(DAY).await;
    assert_eq!(count.wakes(), 1);
    assert!(one.is_elapsed());
}

#[tokio::test(start_paused = true)]
async fn after_a_large_advance_wakes_come_in_the_order_of_deadlines() {
    for (seed, spread) in [(1, 1000), (2, 100_000), (3, 1 << 33)] {
        let mut random = Random::new(seed);
        let woken = Log::new();
        let mut sleeps = Vec::new();
        for _ in 0..1000 {
            let millis = 1 + random.below(spread);
            let log = woken.clone();
            let mut sleep = sleep(ms(millis));
            let waker = OnWake::waker(move || log.push(millis));
            assert!(poll(&mut sleep, &waker).is_pending());
            sleeps.push(sleep);
        }
        advance(ms(spread + 1)).await;
        let woken = woken.entries();
        assert_eq!(woken.len(), 1000);
        assert!(woken.is_sorted(), "spread {spread}");
    }
}

#[tokio::test(start_paused = true)]
async fn advance_wakes_before_it_returns_and_not_too_early() {
    let (waker, count) = counting();
    let mut one = sleep(ms(100));
    assert!(poll(&mut one, &waker).is_pending());
    advance(ms(99)).await;
    assert_eq!(count.wakes(), 0);
    assert!(!one.is_elapsed());
    assert!(poll(&mut one, &waker).is_pending());
    advance(ms(1)).await;
    assert_eq!(count.wakes(), 1);
    assert!(one.is_elapsed());
    assert!(poll(&mut one, &waker).is_ready());
}

#[tokio::test(start_paused = true)]
async fn a_first_poll_after_advance_sees_the_deadline_passed() {
    let mut sleep = sleep(ms(5));
    let mut late = timeout(ms(5), pending::<()>());
    advance(ms(6)).await;
    assert!(!sleep.is_elapsed(), "not registered yet");
    assert!(poll_quietly(&mut sleep).is_ready());
    assert!(matches!(
        poll_quietly(&mut late),
        std::task::Poll::Ready(Err(_))
    ));
}

#[tokio::test(start_paused = true)]
async fn advance_in_small_steps_fires_each_at_its_own() {
    let counts: Vec<(wheel::Sleep, Arc<Count>)> = (1..=200)
        .map(|n| {
            let (waker, count) = counting();
            let mut sleep = sleep(ms(n));
            assert!(poll(&mut sleep, &waker).is_pending());
            (sleep, count)
        })
        .collect();
    for n in 1..=200 {
        advance(ms(1)).await;
        let woken = counts
            .iter()
            .filter(|(_, count)| count.wakes() == 1)
            .count();
        assert_eq!(woken, n);
    }
}

#[tokio::test(start_paused = true)]
async fn io_wins_over_a_paused_clock() {
    let (mut writer, reader) = UnixStream::pair().unwrap();
    reader.set_nonblocking(true).unwrap();
    let mut reader = tokio::net::UnixStream::from_std(reader).unwrap();
    writer.write_all(b"ready").unwrap();
    let start = Instant::now();
    let mut buffer = [0; 5];
    timeout(ms(1), reader.read_exact(&mut buffer))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(start.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_blocking_task_holds_the_clock() {
    let start = Instant::now();
    let blocking = tokio::task::spawn_blocking(|| thread::sleep(ms(50)));
    tokio::select! {
        biased;
        () = sleep(HOUR) => panic!("time ran away"),
        result = blocking => result.unwrap(),
    }
    assert!(start.elapsed() < HOUR);
}

#[tokio::test]
async fn pausing_and_resuming_keeps_pending_timers() {
    let start = Instant::now();
    let mut long = sleep(HOUR);
    assert!(poll_quietly(&mut long).is_pending());
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
async fn a_hundred_thousand_ticks_of_three_seconds_do_not_drift() {
    let start = Instant::now();
    let mut random = Random::new(3);
    let mut ticking = interval(secs(3));
    for n in 0..100_000 {
        let due = ticking.tick().await;
        assert_eq!(due, start + n * secs(3));
        if n % 100 == 0 {
            sleep(ms(random.below(2_900))).await;
        }
    }
    assert_eq!(start.elapsed().as_secs(), 3 * 99_999);
}

#[test]
fn intervals_side_by_side_tick_equally_often() {
    within(secs(120), || {
        support::paused().block_on(async {
            let start = Instant::now();
            let each = (0..1000).map(|_| async {
                let mut ticking = interval(secs(3));
                for _ in 0..=100 {
                    ticking.tick().await;
                }
                Instant::now() - start
            });
            assert!(
                join_all(each)
                    .await
                    .iter()
                    .all(|elapsed| *elapsed == secs(300))
            );
        });
    });
}

#[tokio::test(start_paused = true)]
async fn boxed_pinned_and_bare_sleeps_are_alike() {
    let start = Instant::now();
    let mut boxed: Pin<Box<wheel::Sleep>> = Box::pin(sleep(ms(1)));
    (&mut boxed).await;
    tokio::pin! { let pinned = sleep(ms(1)); }
    (&mut pinned).await;
    let mut bare = sleep(ms(1));
    (&mut bare).await;
    assert_eq!(start.elapsed(), ms(3));
}
