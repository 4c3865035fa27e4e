//! On a worker of a multi-thread runtime, a timer belongs to the worker's runtime; anywhere else,
//! it belongs to the current runtime.
//!
//! These tests also cover a consequence of that rule, its remedy (`current()` of `wheel::Handle`,
//! here `Timers`), and workers that move to another thread.

use crate::everywhere::*;

use std::cell::Cell;
use std::iter::repeat_with;

use support::inside;

use wheel::Sleep;

/// Makes a few timers, after which this thread is bound to its worker.
async fn be_bound() {
    for _ in 0..3 {
        sleep(ms(1)).await;
    }
}

/// Makes a timer on a worker with `make`, and polls it. Asserts how many timers are then pending in
/// the worker's runtime, and how many in the other one.
#[track_caller]
fn belong_to(which: [usize; 2], make: impl Fn(&Handle) -> Sleep + Copy + Send + 'static) {
    let local = with_workers(0).build_local(Default::default());
    let (current, local, multi) = (current_thread(), local.unwrap(), multi_thread(2));
    for other in [current.handle(), local.handle(), multi.handle()] {
        let (here, handle) = (multi_thread(1), other.clone());
        let made = here.spawn(async move {
            be_bound().await;
            let _made = armed(make(&handle));
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

/// The consequence of the rule: the timer waits until a thread drives the worker's runtime again.
#[test]
fn a_timer_made_in_an_entered_runtime_waits_for_the_worker() {
    within(LIMIT, || {
        let (here, there) = (multi_thread(1), multi_thread(1));
        let handle = there.handle().clone();
        let waits = here.spawn(async move {
            be_bound().await;
            let task = handle.spawn(inside(&handle, || sleep(ms(100))));
            // This is the only worker, so no thread drives its runtime.
            thread::sleep(ms(300));
            assert!(!task.is_finished());
            task.await.unwrap();
        });
        here.block_on(waits).unwrap();
    });
}

/// Lets another thread take over this worker. It runs the tasks that wait, fires timers, and keeps
/// the worker.
fn hand_the_worker_over() {
    block_in_place(|| thread::sleep(ms(3)));
}

#[test]
fn a_worker_that_moves_to_another_thread_before_or_within_any_operation_loses_no_timer() {
    fn hand_over_if(bits: u64) {
        (0..bits & 1).for_each(|_| hand_the_worker_over());
    }
    thread_local! {
        static OPERATES: Cell<bool> = const { Cell::new(false) };
    }
    // Dropping this waker hands the worker over in the middle of an operation. (If the operation
    // found the shard busy, another thread drops the waker, and hands nothing over.)
    let handing_over = || {
        let end = AtEnd(|| hand_over_if(OPERATES.get().into()));
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
                hand_over_if(round);
                assert!(poll(&mut sleep, &handing_over()).is_pending());
                hand_over_if(round >> 1);
                assert!(poll(&mut sleep, &handing_over()).is_pending());
                hand_over_if(round >> 2);
                sleep.reset_unpin(Instant::now() + HOUR * 2);
                hand_over_if(round >> 3);
                if round & 1 << 4 != 0 {
                    assert!(poll(&mut sleep, Waker::noop()).is_pending());
                    sleep.reset_unpin(Instant::now());
                    hand_over_if(round >> 5);
                }
                drop(sleep);
                OPERATES.set(false);
                let _ = timeout(ms(5), yield_now()).await;
                hand_the_worker_over();
                // If this timer took over another task's entry, it must have its own waker.
                wheel::sleep(ms(10)).await;
            }
        });
        let ended = tokio::time::timeout(secs(30), task);
        ended.await.expect("a timer did not wake the task").unwrap();
        others.shutdown().await;
    });
    assert_eq!(wheel_of(&runtime).pending(), 0);
}
