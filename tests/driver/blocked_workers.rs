//! Timers whose worker blocks, or whose runtime does: fired by another worker, or when it is over.

use std::thread;
use std::time::Duration;

use support::{
    Log, OnWake, counting, current_thread, eventually, ms, multi_thread, poll, poll_quietly, within,
};
use wheel::{Instant, Sleep, sleep};

use crate::everywhere::LIMIT;

/// A timer of tokio's that is due so long after ours says how long a worker blocks: on a busy machine
/// both are late.
const LATER: Duration = Duration::from_millis(400);

/// A timer, and for each time that its waker was woken whether the deadline had passed.
fn watched(timer: Sleep) -> (Sleep, Log<bool>, bool) {
    let (mut timer, woken) = (timer, Log::new());
    let (deadline, log) = (timer.deadline(), woken.clone());
    let waker = OnWake::waker(move || log.push(Instant::now() >= deadline));
    // A slow machine may be late already.
    let is_pending = poll(&mut timer, &waker).is_pending();
    (timer, woken, is_pending)
}

/// Arms so many timers of 40 ms on a worker and blocks it; the other must fire them.
fn fires_while_its_worker_blocks(timers: usize, warm_up: bool) {
    within(LIMIT, move || {
        let runtime = multi_thread(2);
        let naps = if warm_up { 20 } else { 0 };
        let warmed_up = runtime.spawn(async move {
            for _ in 0..naps {
                sleep(ms(1)).await;
            }
        });
        runtime.block_on(warmed_up).unwrap();
        let blocks = runtime.spawn(async move {
            let armed: Vec<_> = (0..timers).map(|_| watched(sleep(ms(40)))).collect();
            let (waker, later) = counting();
            let mut theirs = Box::pin(tokio::time::sleep(ms(40) + LATER));
            assert!(poll(&mut theirs, &waker).is_pending());
            eventually("tokio's fires", || later.wakes() == 1);
            for (_timer, woken, is_pending) in armed {
                assert!(
                    !is_pending || woken.entries() == [true],
                    "once and not early"
                );
            }
        });
        runtime.block_on(blocks).unwrap();
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
    current_thread().block_on(async {
        let arm = |millis| watched(sleep(ms(millis)));
        let before: Vec<_> = (1..=200).map(arm).collect();
        thread::sleep(ms(250));
        let after: Vec<_> = (1..=50).map(arm).collect();
        sleep(ms(51)).await;
        for (_, woken, is_pending) in &before {
            assert_eq!(woken.entries().len(), usize::from(*is_pending));
        }
        for (mut timer, woken, _) in before.into_iter().chain(after) {
            assert!(poll_quietly(&mut timer).is_ready());
            let woken = woken.entries();
            assert!(woken.is_empty() || woken == [true], "woken twice, or early");
        }
    });
}
