//! The only worker of a runtime blocks, so no thread drives that runtime. Timers of another runtime still reach the worker.

use super::prelude::*;

use futures::future::pending;

/// The only worker blocks on a future, inside another runtime's `enter()`.
#[test]
fn the_only_worker_blocks_on_a_future() {
    fn body<T: Time>((): ()) -> Result<(), String> {
        let (here, there) = (One.build(), One.build());
        let handle = there.handle().clone();
        in_task(&here, async move {
            ticks::<T>().await;
            let _guard = handle.enter();
            executor::block_on(T::sleep(ms(5)));
            let mut interval = T::interval(ms(2));
            executor::block_on(async {
                for _ in 0..4 {
                    interval.tick().await;
                }
            });
        })
    }
    same([()], body::<Tokio>, body::<Ours>);
}

/// The worker's runtime has begun to end, so no thread takes over the worker.
#[test]
fn another_runtime_blocks_a_worker_of_one_that_ends() {
    fn body<T: Time>((): ()) {
        let (here, there) = (One.build(), One.build());
        let handle = there.handle().clone();
        let (tell, told) = mpsc::channel();
        here.spawn(async move {
            ticks::<T>().await;
            tell.send(()).unwrap();
            // The main thread drops this runtime meanwhile.
            thread::sleep(ms(50));
            block_in_place(|| handle.block_on(async { T::sleep(ms(5)).await }));
        });
        told.recv().unwrap();
        drop(here);
    }
    same([()], body::<Tokio>, body::<Ours>);
}

/// No thread is left that could take over the worker.
#[test]
fn another_runtime_blocks_a_worker_that_has_no_successor() {
    fn body<T: Time>((): ()) -> Result<(), String> {
        let here = One.built(with_workers(1).max_blocking_threads(1));
        let there = One.build();
        let handle = there.handle().clone();
        in_task(&here, async move {
            ticks::<T>().await;
            let (tell, told) = mpsc::channel::<()>();
            let blocks = spawn_blocking(move || told.recv().unwrap());
            block_in_place(|| handle.block_on(async { T::sleep(ms(5)).await }));
            tell.send(()).unwrap();
            blocks.await.unwrap();
        })
    }
    same([()], body::<Tokio>, body::<Ours>);
}

/// A thread that used to be the worker drives a runtime of its own, and the worker waits for that thread.
#[test]
fn a_worker_waits_for_the_thread_that_was_its_own() {
    fn body<T: Time>((): ()) -> Result<(), String> {
        in_task(&One.build(), async move {
            ticks::<T>().await;
            block_in_place(|| thread::sleep(ms(20)));
            yield_now().await;
            for _ in 0..5 {
                let (tell, told) = mpsc::channel();
                spawn_blocking(move || {
                    current_thread().block_on(async { T::sleep(ms(1)).await });
                    tell.send(()).unwrap();
                });
                told.recv().unwrap();
            }
        })
    }
    same([()], body::<Tokio>, body::<Ours>);
}

/// The only worker waits for a task of another runtime. That task awaits a timer that the worker made.
#[test]
fn a_worker_waits_for_a_timer_that_it_made_for_another_runtime() {
    fn body<T: Time>((): ()) -> Result<(), String> {
        let (here, there) = (One.build(), Two.driven());
        let handle = there.handle.clone();
        let waited = in_task(&here, async move {
            ticks::<T>().await;
            let (tell, told) = mpsc::channel();
            let _guard = handle.enter();
            let timeout = T::timeout(ms(5), pending::<()>());
            handle.spawn(async move { tell.send(timeout.await.is_err()).unwrap() });
            assert!(told.recv().unwrap());
        });
        there.end();
        waited
    }
    same([()], body::<Tokio>, body::<Ours>);
}
