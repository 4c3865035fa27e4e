//! Assumed: which runtime and which worker a thread has.
//!
//! `tests/api/drop_in.rs` tests Tokio's messages where a runtime or its timers are missing.

use super::*;

use std::collections::HashSet;
use std::sync::Barrier;

use tokio::runtime::worker_index;

#[test]
fn which_contexts_have_a_workers_index() {
    let (three, other) = (multi_thread(3), multi_thread(2));
    let entered = inside(three.handle(), worker_index);
    let blocks_on = three.block_on(async { worker_index() });
    let blocking = three.block_on(three.spawn_blocking(worker_index)).unwrap();
    assumed! { "driver/context.rs";
        "a plain thread has no index": worker_index().is_none(),
        "a thread that entered a runtime has none": entered.is_none(),
        "a multi-thread runtime's `block_on` has none": blocks_on.is_none(),
        "a blocking thread has none": blocking.is_none(),
    }

    let on_a_worker = three.spawn(async move {
        let plain = worker_index();
        let entered = inside(other.handle(), worker_index);
        let in_place = block_in_place(worker_index);
        let own = block_in_place(|| current_thread().block_on(async { worker_index() }));
        let nested = block_in_place(|| other.block_on(async { worker_index() }));
        other.shutdown_background();
        (plain, entered, in_place, own, nested)
    });
    let (plain, entered, in_place, own, nested) = three.block_on(on_a_worker).unwrap();
    assumed! { "driver/context.rs";
        "a task has its worker's": plain.is_some_and(|index| index < 3),
        "entering another runtime changes nothing": entered == plain,
        "`block_in_place` has none": in_place.is_none(),
        "a current-thread runtime that is driven there has 0": own == Some(0),
        "in another multi-thread runtime's `block_on` there, it is the worker's again": nested == plain,
    }

    let alone = current_thread();
    let in_a_task = alone.block_on(alone.spawn(async { worker_index() }));
    assumed! { "driver/context.rs";
        "a current-thread runtime has 0 in `block_on`":
            alone.block_on(async { worker_index() }) == Some(0),
        "a current-thread runtime has 0 in tasks": in_a_task.unwrap() == Some(0),
    }
}

#[test]
fn there_are_as_many_workers_as_the_metrics_report_each_with_an_index_of_its_own() {
    let runtime = multi_thread(3);
    assumed! { "settings.rs";
        "`num_workers` counts the workers": runtime.metrics().num_workers() == 3,
        "a current-thread runtime has one worker": current_thread().metrics().num_workers() == 1,
    }
    // Each task blocks its worker until all three are there.
    let barrier = Arc::new(Barrier::new(3));
    let indices = runtime.block_on(async {
        let meet = |barrier: Arc<Barrier>| async move {
            barrier.wait();
            worker_index()
        };
        let tasks: JoinSet<_> = (0..3).map(|_| meet(barrier.clone())).collect();
        tasks.join_all().await
    });
    let are_apart = HashSet::from_iter(indices) == HashSet::from([Some(0), Some(1), Some(2)]);
    assumed! { "driver/context.rs";
        "workers that run at the same time have different indices, below `num_workers`": are_apart,
    }
}

#[test]
fn a_thread_that_works_for_a_runtime_was_started_by_it() {
    let (log, new) = mpsc::channel();
    let mut started = HashSet::new();
    let runtime = with_workers(2)
        .on_thread_start(move || _ = log.send(thread::current().id()))
        .build()
        .unwrap();
    for _ in 0..50 {
        let threads = runtime.spawn(async {
            let before = thread::current().id();
            // Another thread of the runtime takes over the worker.
            block_in_place(|| thread::sleep(ms(1)));
            yield_now().await;
            [before, thread::current().id()]
        });
        let threads = runtime.block_on(threads).unwrap();
        started.extend(new.try_iter());
        assumed! { "driver/context.rs";
            "a worker runs on threads that its runtime has started, and on no other":
                threads.iter().all(|thread| started.contains(thread)),
        }
    }
}
