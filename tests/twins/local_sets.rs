//! `LocalSet`s: on blocking threads, and driven by one runtime after the other.

use std::future::Future;
use std::rc::Rc;
use std::sync::mpsc as blocking;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{LocalSet, spawn_local};

use crate::runtimes::{Current, KINDS, Kind, One, joined, ticks};
use crate::time::Time;
use support::{HOUR, ms, poll_quietly};

#[test]
fn a_local_set_that_one_runtime_drives_and_then_another() {
    fn body<T: Time>(one: Kind, two: Kind, ends: bool) -> Vec<Result<(), String>> {
        let local = LocalSet::new();
        let (order, mut orders) = mpsc::channel::<oneshot::Sender<()>>(1);
        let worker = local.spawn_local(async move {
            while let Some(done) = orders.recv().await {
                ticks::<T>().await;
                done.send(()).unwrap();
            }
        });
        let mut runtimes = [Some(one.build()), Some(two.build())];
        for n in [0, 1, 0, 1, 1] {
            let (done, answer) = oneshot::channel();
            let asks = async {
                order.send(done).await.unwrap();
                answer.await.unwrap();
                ticks::<T>().await;
            };
            local.block_on(runtimes[n].as_ref().unwrap(), asks);
        }
        if ends {
            runtimes[0] = None;
        }
        let last = runtimes[1].take().unwrap();
        let (done, answer) = oneshot::channel();
        let asks = async {
            order.send(done).await.unwrap();
            answer.await.unwrap();
            drop(order);
            joined(worker).await
        };
        let worker = local.block_on(&last, asks);
        let fresh = local.spawn_local(ticks::<T>());
        vec![worker, local.block_on(&last, joined(fresh))]
    }
    let mut twins = twins!();
    for &one in KINDS {
        for &two in KINDS {
            same!(twins, body(one, two, false));
            same!(twins, body(one, two, true));
        }
    }
}

/// The timer was registered with the first, which lives, is driven elsewhere, or has ended.
#[test]
fn a_local_task_that_waits_while_its_set_changes_hands() {
    fn body<T: Time>(one: Kind, two: Kind) -> Result<(), String> {
        let (one, two) = (one.driven(), two.build());
        let local = LocalSet::new();
        let (waits, waiting) = oneshot::channel();
        let waiter = local.spawn_local(async move {
            let mut sleep = T::boxed(ms(50));
            assert!(poll_quietly(&mut sleep).is_pending());
            waits.send(()).unwrap();
            sleep.await;
        });
        one.handle.block_on(local.run_until(waiting)).unwrap();
        let waiter = local.block_on(&two, joined(waiter));
        one.end();
        local.block_on(&two, ticks::<T>());
        waiter
    }
    let mut twins = twins!();
    for &one in KINDS {
        for &two in KINDS {
            same!(twins, body(one, two));
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Waits {
    Sleep,
    Timeout,
    Unordered,
    /// With timers before.
    Again,
}

/// Says so once it is registered.
async fn waits<T: Time>(how: Waits, started: blocking::Sender<()>) {
    async fn await_with<F: Future>(future: F, started: blocking::Sender<()>) -> F::Output {
        let mut future = std::pin::pin!(future);
        assert!(futures::poll!(&mut future).is_pending());
        started.send(()).unwrap();
        future.await
    }
    match how {
        Waits::Sleep => await_with(T::sleep(HOUR), started).await,
        Waits::Timeout => {
            let never = T::timeout(HOUR, std::future::pending::<()>());
            assert!(await_with(never, started).await.is_err());
        }
        Waits::Unordered => {
            let sleeps: FuturesUnordered<_> = (0..3).map(|_| T::sleep(HOUR)).collect();
            await_with(sleeps.count(), started).await;
        }
        Waits::Again => {
            ticks::<T>().await;
            await_with(T::sleep(HOUR), started).await;
        }
    }
}

/// The drop waits for the blocking thread, whose local task sleeps.
#[test]
fn a_runtime_ends_while_a_local_set_sleeps_on_one_of_its_blocking_threads() {
    fn body<T: Time>(kind: Kind, how: Waits) -> Option<Result<(), String>> {
        let runtime = kind.driven();
        let (handle, own) = (runtime.handle.clone(), runtime.handle.clone());
        let (started, starts) = blocking::channel();
        let (ended, end) = blocking::channel();
        handle.spawn_blocking(move || {
            let local = LocalSet::new();
            let task = local.spawn_local(waits::<T>(how, started));
            own.block_on(local);
            ended
                .send(futures::executor::block_on(joined(task)))
                .unwrap();
        });
        starts.recv().unwrap();
        runtime.end();
        end.recv().ok()
    }
    let mut twins = twins!();
    for &kind in KINDS {
        for how in [Waits::Sleep, Waits::Timeout, Waits::Unordered, Waits::Again] {
            same!(twins, body(kind, how));
        }
    }
}

/// The same without local tasks: `block_on` itself sleeps.
#[test]
fn a_runtime_ends_while_one_of_its_blocking_threads_sleeps_in_block_on() {
    fn body<T: Time>(kind: Kind, how: Waits) -> Option<()> {
        let runtime = kind.driven();
        let (handle, own) = (runtime.handle.clone(), runtime.handle.clone());
        let (started, starts) = blocking::channel();
        let (ended, end) = blocking::channel();
        handle.spawn_blocking(move || {
            own.block_on(waits::<T>(how, started));
            ended.send(()).unwrap();
        });
        starts.recv().unwrap();
        runtime.end();
        end.recv().ok()
    }
    let mut twins = twins!();
    for &kind in KINDS {
        for how in [Waits::Sleep, Waits::Timeout, Waits::Unordered, Waits::Again] {
            same!(twins, body(kind, how));
        }
    }
}

/// As actix has it: a `LocalSet` per thread, in a runtime of its own, that other threads call.
#[test]
fn a_local_set_is_given_work_by_another_runtime() {
    fn body<T: Time>(kind: Kind) -> usize {
        let outer = kind.build();
        let (work, mut todo) = mpsc::channel::<oneshot::Sender<u32>>(4);
        let arbiter = std::thread::spawn(move || {
            let (runtime, local) = (Current.build(), LocalSet::new());
            local.block_on(&runtime, async move {
                while let Some(answer) = todo.recv().await {
                    let kept = Rc::new(7);
                    spawn_local(async move {
                        ticks::<T>().await;
                        let _ = answer.send(*kept);
                    });
                }
            });
        });
        let answered = outer.block_on(async {
            let mut answered = 0;
            for _ in 0..10 {
                let (answer, answers) = oneshot::channel();
                work.send(answer).await.unwrap();
                let in_time = T::timeout(HOUR, answers).await;
                answered += usize::from(in_time == Ok(Ok(7)));
            }
            answered
        });
        drop(work);
        arbiter.join().unwrap();
        answered
    }
    let mut twins = twins!();
    for &kind in KINDS {
        same!(twins, body(kind));
    }
}

/// Dropped with a task that sleeps, under the guard of another runtime or of none.
#[test]
fn a_local_set_is_dropped_after_its_runtime() {
    fn body<T: Time>(kind: Kind, guarded: bool) {
        let (runtime, other) = (kind.build(), One.build());
        let local = LocalSet::new();
        local.spawn_local(async { T::sleep(HOUR).await });
        local.block_on(&runtime, ticks::<T>());
        drop(runtime);
        let _guard = guarded.then(|| other.enter());
        drop(local);
        other.block_on(ticks::<T>());
        assert_eq!(Handle::try_current().is_ok(), guarded);
    }
    let mut twins = twins!();
    for &kind in KINDS {
        same!(twins, body(kind, false));
        same!(twins, body(kind, true));
    }
}
