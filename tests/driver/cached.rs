//! The cached entry: it is never lost, never another task's, and never kept forever.

use crate::everywhere::*;

use std::cell::Cell;
use std::future::pending;
use std::iter::repeat_with;
use std::sync::Weak;

/// Registers a timer and cancels it, which leaves a cached entry.
async fn cancel_one() {
    timeout(HOUR, yield_now()).await.unwrap();
}

#[test]
fn a_task_at_the_address_of_one_that_has_ended_gets_its_own_wakes() {
    // All of the same type, and so of the same size.
    async fn short(fires: bool) {
        match fires {
            true => sleep(us(500)).await,
            false => cancel_one().await,
        }
    }
    multi_thread(2).block_on(async {
        for round in 0..1500 {
            let tasks: JoinSet<_> = (0..4).map(|n| short((n + round) % 2 == 0)).collect();
            let woken = tokio::time::timeout(secs(30), tasks.join_all());
            woken.await.expect("woken");
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
        for _ in 0..4 {
            runtime.spawn(cancel_one());
            runtime.spawn(async { timeout(HOUR, pending::<()>()).await });
        }
        runtime.block_on(runtime.spawn(cancel_one())).unwrap();
        let wheel = wheel_of(&runtime);
        drop(runtime);
        // A task's memory.
        assert!(seen.upgrade().is_none(), "kept, round {round}");
        assert_eq!(wheel.pending(), 0);
    }
}

#[test]
fn a_thread_that_goes_from_runtime_to_runtime_gives_back_what_it_had() {
    let runtimes = [multi_thread(1), multi_thread(1)];
    for round in 0..500 {
        let (here, other) = (&runtimes[round % 2], &runtimes[1 - round % 2]);
        let wheel = wheel_of(other);
        let task = here.spawn(async move {
            cancel_one().await;
            let mut theirs = wheel.sleep(HOUR);
            assert!(futures::poll!(&mut theirs).is_pending());
            drop(theirs);
            assert_eq!(wheel.pending(), 0);
            wheel.sleep(us(300)).await;
            sleep(us(300)).await;
        });
        here.block_on(task).unwrap();
    }
    for runtime in &runtimes {
        assert_eq!(inside(runtime, wheel::metrics).snapshot().pending, 0);
    }
}

/// Another thread takes over the worker, runs the tasks that wait, fires timers, and keeps the worker.
fn lose_the_worker() {
    block_in_place(|| thread::sleep(ms(3)));
}

#[test]
fn a_worker_that_changes_hands_before_and_within_each_operation_loses_no_timer() {
    fn lose_at_times(bits: u64) {
        (0..bits & 1).for_each(|_| lose_the_worker());
    }
    thread_local! {
        static OPERATES: Cell<bool> = const { Cell::new(false) };
    }
    // The waker is dropped in the middle of an operation. (Or in another thread's expiry pass, if the
    // operation has found the shard busy. There tokio has no worker to lose.)
    let losing = || {
        let end = AtEnd(|| lose_at_times(OPERATES.get().into()));
        OnWake::waker(move || _ = &end)
    };
    let runtime = multi_thread(1);
    runtime.block_on(async {
        let others = repeat_with(|| async {
            loop {
                let _ = timeout(ms(5), yield_now()).await;
            }
        });
        let mut others: JoinSet<()> = others.take(3).collect();
        let task = tokio::spawn(async move {
            for round in 0..64 {
                OPERATES.set(true);
                let mut sleep = sleep(HOUR);
                lose_at_times(round);
                assert!(poll(&mut sleep, &losing()).is_pending());
                lose_at_times(round >> 1);
                assert!(poll(&mut sleep, &losing()).is_pending());
                lose_at_times(round >> 2);
                sleep.reset_unpin(Instant::now() + HOUR * 2);
                lose_at_times(round >> 3);
                if round & 1 << 4 != 0 {
                    assert!(poll(&mut sleep, Waker::noop()).is_pending());
                    sleep.reset_unpin(Instant::now());
                    lose_at_times(round >> 5);
                }
                drop(sleep);
                OPERATES.set(false);
                let _ = timeout(ms(5), yield_now()).await;
                lose_the_worker();
                // Never in the place of another task's timer, with the waker of that task.
                wheel::sleep(ms(10)).await;
            }
        });
        let ended = tokio::time::timeout(secs(30), task);
        ended.await.expect("each timer wakes the task").unwrap();
        others.shutdown().await;
    });
    assert_eq!(inside(&runtime, wheel::metrics).snapshot().pending, 0);
}
