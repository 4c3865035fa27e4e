//! A worker sleeps between its timers, and while it has none.

use support::prelude::*;

use support::load::{sleepers, spawn_senders, spawn_yielders};

fn parks(runtime: &Runtime) -> u64 {
    let metrics = runtime.metrics();
    let of_each = (0..metrics.num_workers()).map(|n| metrics.worker_park_count(n));
    of_each.sum()
}

/// Returns how often the worker parks during 100 sleeps.
fn parks_while_sleeping<T: Time>(runtime: &Runtime) -> u64 {
    let before = parks(runtime);
    let slept = runtime.spawn(async move {
        for _ in 0..100 {
            T::sleep(ms(2)).await;
        }
    });
    runtime.block_on(slept).unwrap();
    parks(runtime) - before
}

#[track_caller]
fn sleeps_as_often_as_with_tokio(runtime: &Runtime, when: &str) {
    let ours = parks_while_sleeping::<Ours>(runtime);
    let theirs = parks_while_sleeping::<Tokio>(runtime);
    assert!(2 * ours >= theirs, "{when}: {ours} parks, Tokio's {theirs}");
}

#[test]
fn in_an_idle_runtime_the_worker_sleeps_between_its_timers() {
    let _machine = crate::alone();
    within(secs(120), || {
        let runtime = multi_thread(1);
        sleeps_as_often_as_with_tokio(&runtime, "from the start");
        for load in [spawn_yielders, spawn_senders] {
            let load = load(runtime.handle());
            runtime.block_on(join_all(sleepers(&runtime, 20, 20, 8_000)));
            drop(load);
            sleeps_as_often_as_with_tokio(&runtime, "after it was busy");
        }
    });
}

/// Returns the parks in four periods of half a second: without timers, with a timer an hour away, while cancelled timers
/// would have been due, and after that.
fn parks_when_idle<T: Time>() -> [u64; 4] {
    let runtime = multi_thread(2);
    let _guard = runtime.enter();
    let during_half_a_second = || {
        let before = parks(&runtime);
        thread::sleep(ms(500));
        parks(&runtime) - before
    };
    runtime.block_on(async { tokio::spawn(T::sleep(ms(5))).await.unwrap() });
    thread::sleep(ms(50));
    let without = during_half_a_second();

    let _hour = armed(T::boxed(HOUR));
    thread::sleep(ms(50));
    let far = during_half_a_second();

    let mut cancelled: Vec<_> = (100..300).map(|n| T::boxed(ms(n))).collect();
    for sleep in &mut cancelled {
        let _ = poll_quietly(sleep);
    }
    drop(cancelled);
    [without, far, during_half_a_second(), during_half_a_second()]
}

#[test]
fn idle_costs_nothing() {
    let _machine = crate::alone();
    let (theirs, ours) = within(secs(60), || {
        (parks_when_idle::<Tokio>(), parks_when_idle::<Ours>())
    });
    // The alarm of a cancelled timer may fire once. A worker that wakes up every millisecond parks 500 times.
    for (ours, theirs) in ours.iter().zip(theirs) {
        assert!(*ours <= theirs + 10, "{ours:?} parks, Tokio's {theirs:?}");
    }
}
