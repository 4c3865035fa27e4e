//! A timer belongs to the worker's runtime on a multi-thread worker, and to the current runtime elsewhere.
//!
//! A consequence of that rule, and its cure, `Timers::current()`.

use crate::everywhere::*;

use std::cell::Cell;
use std::iter::repeat_with;

use support::inside;

use wheel::Sleep;

/// A worker is known once its task has made a timer, and yielded.
async fn be_known() {
    for _ in 0..3 {
        sleep(ms(1)).await;
    }
}

/// Made on a worker in this way, and polled, a timer belongs to the worker's runtime, or else to
/// the other.
#[track_caller]
fn belong_to(which: [usize; 2], make: impl Fn(&Handle) -> Sleep + Copy + Send + 'static) {
    let local = Builder::new_current_thread()
        .enable_all()
        .build_local(Default::default());
    let (current, local, multi) = (current_thread(), local.unwrap(), multi_thread(2));
    for other in [current.handle(), local.handle(), multi.handle()] {
        let (here, handle) = (multi_thread(1), other.clone());
        let made = here.spawn(async move {
            be_known().await;
            let _made = registered(make(&handle));
            let pending = || Timers::current().pending();
            [Handle::current(), handle].map(|runtime| inside(&runtime, pending))
        });
        assert_eq!(within(LIMIT, move || here.block_on(made).unwrap()), which);
    }
}

const WORKERS: [usize; 2] = [1, 0];
const OTHERS: [usize; 2] = [0, 1];

#[test]
fn on_a_worker_a_timer_belongs_to_its_runtime_whatever_was_entered() {
    belong_to(WORKERS, |other| inside(other, || sleep(HOUR)));
}

#[test]
fn a_handle_to_a_driver_asks_for_the_current_runtime_exactly() {
    belong_to(OTHERS, |other| {
        inside(other, || Timers::current().sleep(HOUR))
    });
}

#[test]
fn in_a_blocking_section_a_timer_belongs_to_the_current_runtime() {
    belong_to(OTHERS, |other| {
        block_in_place(|| inside(other, || sleep(HOUR)))
    });
}

/// The consequence: the timer waits until the worker's runtime is driven again.
#[test]
fn a_timer_made_in_an_entered_runtime_waits_for_the_worker() {
    within(LIMIT, || {
        let (here, there) = (multi_thread(1), multi_thread(1));
        let handle = there.handle().clone();
        let waits = here.spawn(async move {
            be_known().await;
            let task = handle.spawn(inside(&handle, || sleep(ms(100))));
            // The only worker blocks: its runtime is not driven.
            thread::sleep(ms(300));
            assert!(!task.is_finished());
            task.await.unwrap();
        });
        here.block_on(waits).unwrap();
    });
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
    assert_eq!(wheel_of(&runtime).pending(), 0);
}
