//! Timers that are cancelled and replaced all the time, on real threads: what is
//! left for the next one is never lost, never another task's, and never kept for good.

use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use support::{multi_thread, with_workers};
use tokio::task::yield_now;
use wheel::{Duration, Instant, Wheel, sleep, timeout};

const HOUR: Duration = Duration::from_secs(3600);

/// Leaves a spare: registered, and cancelled.
async fn cancel_one() {
    timeout(HOUR, yield_now()).await.unwrap();
}

/// Cancels, replaces, resets and lets fire; says how many timers it registered.
async fn churn(seed: u64, rounds: u64) -> u64 {
    let mut registered = 0;
    for round in 0..rounds {
        registered += 1;
        match (seed + round) % 16 {
            0 => {
                let due = Instant::now() + Duration::from_millis(2);
                wheel::sleep_until(due).await;
                assert!(Instant::now() >= due, "early");
            }
            1 => {
                let mut sleep = sleep(HOUR);
                futures::poll!(&mut sleep).is_pending();
                sleep.reset_unpin(Instant::now() + HOUR * 2);
                tokio::spawn(async move { drop(sleep) }).await.unwrap();
            }
            2 => {
                let mut sleep = sleep(HOUR);
                futures::poll!(&mut sleep).is_pending();
                sleep.reset_unpin(Instant::now());
                sleep.await;
            }
            _ => cancel_one().await,
        }
    }
    registered
}

#[test]
fn the_counts_agree_at_any_time_and_from_any_thread() {
    let runtime = multi_thread(3);
    let metrics = runtime.block_on(async { wheel::metrics() });
    let stop = Arc::new(AtomicBool::new(false));
    let reader = std::thread::spawn({
        let (metrics, stop) = (metrics.clone(), Arc::clone(&stop));
        move || {
            let (mut registered, mut gone) = (0, 0);
            while !stop.load(Ordering::Relaxed) {
                let now = metrics.snapshot();
                let out = now.fired + now.cancelled;
                assert_eq!(now.registered, out + now.pending as u64);
                assert!(now.registered >= registered && out >= gone, "went back");
                (registered, gone) = (now.registered, out);
            }
        }
    });
    let registered: u64 = runtime.block_on(async {
        let tasks: Vec<_> = (0..8).map(|seed| tokio::spawn(churn(seed, 2000))).collect();
        let mut sum = 0;
        for task in tasks {
            sum += task.await.unwrap();
        }
        sum
    });
    stop.store(true, Ordering::Relaxed);
    reader.join().unwrap();
    let now = metrics.snapshot();
    assert_eq!(now.pending, 0);
    assert!(now.registered <= registered);
    assert!(now.registered >= registered - registered / 8);
}

#[test]
fn a_cancel_counts_before_the_drop_is_known_to_others() {
    let runtime = multi_thread(2);
    let metrics = runtime.block_on(async { wheel::metrics() });
    for round in 0..2000 {
        runtime.block_on(async { tokio::spawn(cancel_one()).await.unwrap() });
        assert_eq!(metrics.snapshot().pending, 0, "round {round}");
    }
}

#[test]
fn a_task_at_the_address_of_one_that_has_ended_gets_its_own_wakes() {
    let runtime = multi_thread(2);
    runtime.block_on(async {
        for round in 0..1500 {
            // All of one type, and so of one size.
            let short = |fires: bool| async move {
                if fires {
                    sleep(Duration::from_micros(500)).await;
                } else {
                    cancel_one().await;
                }
            };
            let tasks: Vec<_> = (0..4)
                .map(|n| tokio::spawn(short((n + round) % 2 == 0)))
                .collect();
            for task in tasks {
                tokio::time::timeout(HOUR / 120, task)
                    .await
                    .expect("woken")
                    .unwrap();
            }
        }
    });
}

#[test]
fn nothing_left_outlives_its_runtime() {
    for round in 0..300 {
        let held = Arc::new(());
        let seen: Weak<()> = Arc::downgrade(&held);
        let mut builder = with_workers(1 + round % 3);
        let runtime = builder.on_thread_park(move || _ = &held).build().unwrap();
        drop(builder);
        let wheel = runtime.block_on(async {
            for _ in 0..4 {
                tokio::spawn(cancel_one());
                tokio::spawn(async { timeout(HOUR, pending::<()>()).await });
            }
            tokio::spawn(cancel_one()).await.unwrap();
            Wheel::current()
        });
        drop(runtime);
        assert!(
            seen.upgrade().is_none(),
            "a task's memory is kept, round {round}"
        );
        assert_eq!(wheel.pending(), 0);
    }
}

#[test]
fn a_thread_that_goes_from_runtime_to_runtime_gives_back_what_it_had() {
    let (a, b) = (multi_thread(1), multi_thread(1));
    for round in 0..500u64 {
        let runtime = if round % 2 == 0 { &a } else { &b };
        let other = if round % 2 == 0 { &b } else { &a };
        let wheel = other.block_on(async { Wheel::current() });
        runtime.block_on(async {
            tokio::spawn(async move {
                cancel_one().await;
                let mut theirs = wheel.sleep(HOUR);
                assert!(futures::poll!(&mut theirs).is_pending());
                drop(theirs);
                assert_eq!(wheel.pending(), 0);
                wheel.sleep(Duration::from_micros(300)).await;
                sleep(Duration::from_micros(300)).await;
            })
            .await
            .unwrap();
        });
    }
    for runtime in [a, b] {
        let pending = runtime.block_on(async { wheel::metrics().snapshot().pending });
        assert_eq!(pending, 0);
    }
}

#[test]
fn many_blocking_threads_share_a_few_spares() {
    let runtime = multi_thread(1);
    let handle = runtime.handle().clone();
    let threads: Vec<_> = (0..16)
        .map(|seed| {
            let handle = handle.clone();
            std::thread::spawn(move || {
                for n in 0..20 {
                    handle.block_on(async {
                        let local = tokio::task::LocalSet::new();
                        local
                            .run_until(async move {
                                tokio::task::spawn_local(churn(seed + n, 50)).await.unwrap();
                            })
                            .await;
                    });
                }
            })
        })
        .collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    let now = runtime.block_on(async { wheel::metrics().snapshot() });
    assert_eq!(now.pending, 0);
}
