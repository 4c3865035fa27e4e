//! On a worker of a multi-thread runtime, a timer belongs to the worker's runtime; anywhere else,
//! it belongs to the current runtime. (The exception is the first worker inside an `enter()`.)
//!
//! These tests also cover the remedy (`current()` of `wheel::Handle`, here `Timers`), and workers that
//! move to another thread.

use crate::everywhere::*;

use std::cell::Cell;
use std::iter::repeat_with;
use std::sync::Barrier;

use support::inside;

/// Makes enough timers for a worker to learn whose pool its thread belongs to.
async fn learn_the_pool() {
    for made in 1..=70_000 {
        drop(sleep(HOUR));
        if made % 250 == 0 {
            yield_now().await;
        }
    }
}

/// Makes a timer on a worker with `make`, for another runtime of each kind, and polls it: on the first worker, and on the
/// second of two. Asserts how many timers are then pending in the worker's runtime, and how many in the other one.
#[track_caller]
fn belong_to(which: [[usize; 2]; 2], make: impl Fn(&Handle) -> Sleep + Copy + Send + 'static) {
    // The first worker cannot tell whether it drives a current-thread runtime.
    let (current, several) = (current_thread(), multi_thread(2));
    let local = with_workers(0).build_local(Default::default()).unwrap();
    let others = [current.handle(), local.handle(), several.handle()];
    for (other, workers) in others
        .into_iter()
        .flat_map(|other| [(other, 1), (other, 2)])
    {
        let (here, meet) = (multi_thread(workers), Arc::new(Barrier::new(workers)));
        let on_each = (0..workers).map(|_| {
            let (meet, handle) = (Arc::clone(&meet), other.clone());
            here.spawn(async move {
                learn_the_pool().await;
                // The tasks are on different workers now, until they meet again.
                meet.wait();
                let is_last = tokio::runtime::worker_index() == Some(workers - 1);
                let made = is_last.then(|| armed(make(&handle)));
                let pending = || Timers::current().metrics().snapshot().pending;
                let counts = [Handle::current(), handle].map(|runtime| inside(&runtime, pending));
                meet.wait();
                made.map(|_| counts)
            })
        });
        let on_each: Vec<_> = on_each.collect();
        let made = within(LIMIT, move || {
            let mut made = on_each.into_iter();
            made.find_map(|made| here.block_on(made).unwrap())
        });
        assert_eq!(made, Some(which[workers - 1]));
    }
}

const WORKERS: [usize; 2] = [1, 0];
const OTHERS: [usize; 2] = [0, 1];

#[test]
fn on_a_worker_a_timer_belongs_to_its_runtime_whatever_was_entered() {
    belong_to([OTHERS, WORKERS], |other| inside(other, || sleep(HOUR)));
}

#[test]
fn a_handle_to_a_driver_asks_for_the_current_runtime_exactly() {
    let make = |other: &Handle| inside(other, || Timers::current().sleep(HOUR));
    belong_to([OTHERS; 2], make);
}

#[test]
fn in_a_blocking_section_a_timer_belongs_to_the_current_runtime() {
    let make = |other: &Handle| block_in_place(|| inside(other, || sleep(HOUR)));
    belong_to([OTHERS; 2], make);
}

/// There, the thread has its worker's index again. H52.
#[test]
fn in_a_nested_block_on_a_timer_belongs_to_the_workers_runtime() {
    fn nested(other: &Handle, make: fn() -> Sleep) -> Sleep {
        block_in_place(|| other.block_on(futures::future::lazy(|_| make())))
    }
    belong_to([OTHERS, WORKERS], |other| nested(other, || sleep(HOUR)));
    belong_to([OTHERS; 2], |other| {
        nested(other, || Timers::current().sleep(HOUR))
    });
}

/// B1: the thread gave the first worker away and returned to the pool, and then drives a runtime of its own.
#[test]
fn a_thread_that_was_a_worker_makes_timers_of_the_runtime_that_it_drives() {
    within(LIMIT, || {
        let here = multi_thread(1);
        let of_both = here.spawn(async {
            learn_the_pool().await;
            let drive = || {
                let own = current_thread();
                let other = multi_thread(1);
                own.block_on(async {
                    let _made = armed(sleep(HOUR));
                    let _other = inside(other.handle(), || armed(sleep(HOUR)));
                    let pending = || Timers::current().metrics().snapshot().pending;
                    pending() + inside(other.handle(), pending)
                })
            };
            let inside_a_blocking_section = block_in_place(drive);
            // This thread returns to the pool, unless it gets the worker back.
            block_in_place(|| thread::sleep(ms(20)));
            yield_now().await;
            let later = join_all([(); 4].map(|()| spawn_blocking(drive))).await;
            (inside_a_blocking_section, later)
        });
        let (first, later) = here.block_on(of_both).unwrap();
        assert_eq!(first, 2);
        assert!(later.into_iter().all(|pending| pending.unwrap() == 2));
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
        let ended = tokio::time::timeout(LIMIT, task);
        ended.await.expect("a timer did not wake the task").unwrap();
        others.shutdown().await;
    });
    assert_eq!(wheel_of(&runtime).metrics().snapshot().pending, 0);
}
