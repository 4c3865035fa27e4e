//! Timers that a worker makes fire where another runtime is current, driven or not.

use crate::prelude::*;

use futures::future::pending;
use futures::{StreamExt, executor};
use tokio_util::context::TokioContext;

/// The only worker waits for a task of another runtime, which awaits a timer that was made here.
#[test]
fn a_worker_waits_for_a_timer_that_it_made_for_another_runtime() {
    fn body<T: Time>() -> Result<(), String> {
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
    same_once(body::<Tokio>, body::<Exact>);
}

#[test]
fn made_and_reset_in_the_context_of_a_runtime_that_nobody_drives() {
    fn body<T: Time>() -> Result<(), String> {
        let (here, idle) = (One.build(), Current.build());
        let handle = idle.handle().clone();
        in_task(&here, async move {
            ticks::<T>().await;
            let mut set: FuturesUnordered<_> = (1..4).map(|n| T::boxed(ms(n))).collect();
            let all = async { while set.next().await.is_some() {} };
            TokioContext::new(all, handle.clone()).await;
            // A reset without a poll moves a timer to the same runtime.
            let mut sleep = T::boxed(ms(1));
            inside(&handle, || sleep.as_mut().reset(Instant::now() + ms(5)));
            sleep.await;
        })
    }
    same_once(body::<Tokio>, body::<Ours>);
}

/// A reset there, and a poll inside a `block_on` that blocks the worker.
#[test]
fn a_timer_that_was_reset_is_awaited_where_a_worker_blocks() {
    fn body<T: Time>() -> Result<(), String> {
        let (here, there) = (One.build(), Current.build());
        let nested = async {
            let mut sleep = T::boxed(ms(1));
            for _ in 0..3 {
                sleep.as_mut().reset(Instant::now() + ms(2));
                sleep.as_mut().await;
            }
            join_all((0..40).map(|_| T::boxed(ms(2)))).await;
        };
        in_task(&here, async move {
            ticks::<T>().await;
            block_in_place(|| there.block_on(nested));
        })
    }
    same_once(body::<Tokio>, body::<Ours>);
}

/// The other runtime ends first: the worker's runtime counts.
#[test]
fn a_timer_outlives_the_nested_runtime_that_polled_it() {
    fn body<T: Time>() -> Result<(), String> {
        in_task(&Two.build(), async move {
            ticks::<T>().await;
            let mut sleep = T::boxed(ms(300));
            block_in_place(|| {
                Current.build().block_on(async {
                    tokio::select! {
                        () = sleep.as_mut() => panic!("early"),
                        () = T::sleep(ms(2)) => {}
                    }
                });
            });
            assert!(!sleep.is_elapsed());
            let waits = thread::spawn(|| executor::block_on(sleep));
            block_in_place(|| waits.join().unwrap());
        })
    }
    same_once(body::<Tokio>, body::<Ours>);
}
