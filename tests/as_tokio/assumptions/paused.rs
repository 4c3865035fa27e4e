//! Assumed of a paused clock: it stops at the deadlines of registered timers, rounded up to milliseconds.

use super::*;

/// Calls `prepare` at 1 ms, with a waker. Returns where the clock stops until a timer of 50 ms fires, and how often
/// that waker was woken.
fn stops<K>(prepare: impl FnOnce(&Waker) -> K) -> (Vec<Duration>, usize) {
    let (runtime, log) = watched();
    let (waker, count) = new_count_waker();
    let start = runtime.block_on(async {
        let start = Instant::now();
        time::sleep(ms(1)).await;
        let _kept = prepare(&waker);
        time::sleep_until(start + ms(50)).await;
        start
    });
    let since_start = log.try_iter().map(|at| at - start);
    let mut stops: Vec<_> = since_start.collect();
    stops.dedup();
    (stops, count.get())
}

fn armed(waker: &Waker) -> Interval {
    let mut interval = interval();
    assert!(arm(&mut interval, Instant::now() + ms(20), waker).is_pending());
    interval
}

fn disarm(interval: &mut Interval, waker: &Waker) {
    assert!(arm(interval, past(), waker).is_ready());
}

#[test]
fn a_paused_clock_stops_at_registered_timers_and_nowhere_else() {
    let (none, _) = stops(|_| {});
    let (unpolled, _) = stops(|_| interval());
    let (dropped, fires_dropped) = stops(|waker| drop(armed(waker)));
    let (with, fires_with) = stops(armed);
    let (reset, _) = stops(|_| {
        let mut interval = interval();
        interval.reset_at(Instant::now() + ms(20));
        interval
    });
    let (disarmed, _) = stops(|waker| {
        let mut interval = armed(waker);
        disarm(&mut interval, waker);
        interval
    });
    assumed! { "driver/near.rs";
        "a paused clock does not stop for a timer that was dropped": dropped == none,
        "a timer that was dropped does not fire": fires_dropped == 0,
        "a paused clock stops at a registered timer": with != none,
        "a registered timer fires once": fires_with == 1,
    }
    assumed! { "driver/alarm/interval.rs";
        "an interval that was never reset nor polled has registered nothing": unpolled == none,
        "`reset_at` registers, though nobody polls": reset == with,
        "an interval that has yielded a tick, and is not polled again, is not registered":
            disarmed == none,
    }
}

#[test]
fn an_extended_timer_still_stops_the_clock_at_its_old_deadline() {
    let extended = |waker: &Waker, by: fn(&mut Interval, &Waker)| {
        let mut interval = armed(waker);
        by(&mut interval, waker);
        assert!(arm(&mut interval, Instant::now() + ms(30), waker).is_pending());
        interval
    };
    let (lazily, _) = stops(|waker| extended(waker, |_, _| {}));
    let (disarmed, _) = stops(|waker| extended(waker, disarm));
    assumed! { "driver/alarm/mod.rs";
        "a timer that is reset to a later deadline is moved lazily, so it still has to be disarmed first":
            lazily.len() > disarmed.len(),
    }
}

#[test]
fn advance_returns_after_the_wakers_were_called() {
    support::paused().block_on(async {
        let (waker, count) = new_count_waker();
        let _armed = armed(&waker);
        time::advance(ms(19)).await;
        assert_eq!(count.get(), 0, "early");
        time::advance(ms(1)).await;
        assumed! { "driver/alarm/mod.rs";
            "`advance` returns after the wakers of what is due were called": count.get() == 1,
        }
    });
}

/// Returns `true` if Tokio has processed this deadline.
fn has_come(deadline: Instant) -> bool {
    poll_quietly(&mut Box::pin(time::sleep_until(deadline))).is_ready()
}

/// Returns by how many nanoseconds Tokio's milliseconds are offset from those since `origin`.
fn phase(origin: Instant) -> u128 {
    let now = Instant::now();
    let (mut come, mut to_come) = (now - ms(2), now + ms(2));
    assert!(has_come(come) && !has_come(to_come));
    while to_come - come > Duration::from_nanos(1) {
        let between = come + (to_come - come) / 2;
        match has_come(between) {
            true => come = between,
            false => to_come = between,
        }
    }
    (come - origin).as_nanos() % 1_000_000
}

#[test]
fn deadlines_are_rounded_up_to_milliseconds_of_a_grid_that_stays() {
    support::paused().block_on(async {
        let origin = Instant::now() - secs(60);
        time::sleep(ms(3)).await;
        let first = phase(origin);
        for micros in [300, 777, 999] {
            time::advance(Duration::from_micros(micros)).await;
            time::sleep(ms(2)).await;
            let stays = phase(origin) == first;
            let deadline = Instant::now() + Duration::from_nanos(1);
            time::sleep_until(deadline).await;
            let rounded_up_by = Instant::now().checked_duration_since(deadline);
            assumed! { "driver/near.rs";
                "Tokio's milliseconds begin where they began before": stays,
                "a deadline is rounded up to such a millisecond, and no further":
                    rounded_up_by.is_some_and(|by| by < ms(1)),
            }
        }
    });
}
