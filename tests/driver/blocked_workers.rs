//! Timers whose worker blocks, or whose runtime does: fired by another worker, or when it is over.

use std::thread;
use std::time::Duration;

use support::{
    Log, OnWake, counting, current_thread, eventually, ms, multi_thread, poll, poll_quietly, within,
};
use wheel::{Instant, sleep, sleep_until};

/// More than any machine takes for a timer of some milliseconds.
const LIMIT: Duration = Duration::from_secs(60);

/// A timer of tokio's that is due so long after ours says how long a worker blocks: on a busy machine
/// both are late.
const LATER: Duration = Duration::from_millis(400);

/// Arms `timers` timers of 40 ms on a worker and blocks it; the other must fire them.
fn fires_while_its_worker_blocks(timers: usize, warm_up: bool) {
    within(LIMIT, move || {
        let runtime = multi_thread(2);
        runtime.block_on(async {
            if warm_up {
                tokio::spawn(async {
                    for _ in 0..20 {
                        sleep(ms(1)).await;
                    }
                })
                .await
                .unwrap();
            }
            tokio::spawn(async move {
                let mut armed: Vec<_> = (0..timers)
                    .map(|_| (sleep_until(Instant::now() + ms(40)), Log::new()))
                    .collect();
                let mut pending = Vec::new();
                for (sleep, woken) in &mut armed {
                    let (deadline, log) = (sleep.deadline(), woken.clone());
                    let waker = OnWake::waker(move || log.push(Instant::now() >= deadline));
                    // A slow machine may be late already.
                    pending.extend(poll(sleep, &waker).is_pending().then_some(woken));
                }
                let (waker, later) = counting();
                let mut theirs = Box::pin(tokio::time::sleep(ms(40) + LATER));
                assert!(poll(&mut theirs, &waker).is_pending());
                eventually("tokio's fires", || later.wakes() == 1);
                let in_time = pending.iter().filter(|woken| woken.entries() == [true]);
                assert_eq!(in_time.count(), pending.len(), "fired, once and not early");
            })
            .await
            .unwrap();
        });
    });
}

#[test]
fn the_first_timer_fires_though_the_worker_that_armed_it_blocks() {
    fires_while_its_worker_blocks(1, false);
}

#[test]
fn a_later_timer_fires_though_the_worker_that_armed_it_blocks() {
    fires_while_its_worker_blocks(1, true);
}

#[test]
fn five_thousand_first_timers_fire_though_the_worker_that_armed_them_blocks() {
    fires_while_its_worker_blocks(5000, false);
}

#[test]
fn five_thousand_later_timers_fire_though_the_worker_that_armed_them_blocks() {
    fires_while_its_worker_blocks(5000, true);
}

/// H12, H39: the driver could not run for a while. What was armed meanwhile, by a
/// clock that it has not seen, is not early; what came due fires, and once.
#[test]
fn a_runtime_that_was_blocked_fires_all_that_it_missed_once_and_nothing_early() {
    let runtime = current_thread();
    runtime.block_on(async {
        let arm = |millis| {
            let mut sleep = sleep(ms(millis));
            let (wakes, deadline) = (Log::new(), sleep.deadline());
            let log = wakes.clone();
            let waker = OnWake::waker(move || log.push(Instant::now() >= deadline));
            let _ = poll(&mut sleep, &waker);
            (sleep, wakes)
        };
        let mut before: Vec<_> = (1..=200).map(arm).collect();
        thread::sleep(ms(250));
        let mut after: Vec<_> = (1..=50).map(arm).collect();
        let last = after
            .iter()
            .map(|(sleep, _)| sleep.deadline())
            .max()
            .unwrap();
        wheel::sleep_until(last + ms(1)).await;
        for (sleep, wakes) in before.iter_mut().chain(&mut after) {
            assert!(poll_quietly(sleep).is_ready());
            let wakes = wakes.entries();
            assert!(wakes.len() <= 1, "woken twice");
            assert!(wakes.iter().all(|in_time| *in_time), "woken early");
        }
        assert!(before.iter().all(|(_, wakes)| wakes.entries().len() == 1));
    });
}
