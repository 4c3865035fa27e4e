//! Timers awaited in another runtime's context: `RuntimeExt::wrap`.

use futures::future::join_all;
use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio_util::context::{RuntimeExt, TokioContext};

use crate::runtimes::{Current, KINDS, Kind, MULTI, OTHERS, One, Two, end, in_task, joined, ticks};
use crate::time::Time;
use crate::twin::finished;
use support::{HOUR, SHUT_DOWN, ms, poll_quietly, secs};

#[test]
fn after_a_wrapped_timer_a_plain_one_outlives_that_runtime() {
    fn body<T: Time>(kind: Kind, of: Kind) -> Result<(), String> {
        let (here, there) = (kind.build(), of.driven());
        in_task(&here, async move {
            TokioContext::new(ticks::<T>(), there.handle.clone()).await;
            there.end();
            ticks::<T>().await;
            joined(tokio::spawn(ticks::<T>())).await.unwrap();
        })
    }
    let mut twins = twins!();
    for &kind in KINDS {
        for &of in OTHERS {
            same!(twins, body(kind, of));
        }
    }
}

/// A plain one is pending while that runtime ends.
#[test]
fn a_plain_timer_beside_wrapped_ones_outlives_that_runtime() {
    fn body<T: Time>(kind: Kind, of: Kind) -> Result<(), String> {
        let (here, there) = (kind.build(), of.driven());
        in_task(&here, async move {
            let wrapped = async {
                ticks::<T>().await;
                T::boxed(ms(1)).await;
            };
            TokioContext::new(wrapped, there.handle.clone()).await;
            let (mut plain, made) = (T::boxed(ms(30)), T::boxed(ms(30)));
            assert!(futures::poll!(&mut plain).is_pending());
            let spawned = tokio::spawn(T::boxed(ms(30)));
            there.end();
            plain.await;
            made.await;
            joined(spawned).await.unwrap();
        })
    }
    let mut twins = twins!();
    for &kind in KINDS {
        for &of in OTHERS {
            same!(twins, body(kind, of));
        }
    }
}

#[test]
fn wrapped_and_plain_timers_take_turns() {
    fn body<T: Time>(kind: Kind, of: Kind) -> Result<(), String> {
        let (here, there) = (kind.build(), of.driven());
        in_task(&here, async move {
            for _ in 0..5 {
                ticks::<T>().await;
                TokioContext::new(ticks::<T>(), there.handle.clone()).await;
                let nested = TokioContext::new(ticks::<T>(), tokio::runtime::Handle::current());
                TokioContext::new(nested, there.handle.clone()).await;
            }
            there.end();
            ticks::<T>().await;
        })
    }
    let mut twins = twins!();
    for &kind in KINDS {
        for &of in OTHERS {
            same!(twins, body(kind, of));
        }
    }
}

/// What tokio-util's own example does: the runtime that polls has no timers at all.
#[test]
fn a_runtime_without_timers_awaits_those_of_another() {
    fn body<T: Time>(of: Kind) {
        let there = of.build();
        let here = Builder::new_multi_thread().worker_threads(1).build();
        let here = here.unwrap();
        here.block_on(there.wrap(ticks::<T>()));
        let wrapped = there.wrap(async {
            let tick = || T::timeout(ms(5), T::sleep(ms(1)));
            join_all([tick(), tick(), tick()]).await
        });
        here.block_on(here.spawn(wrapped)).unwrap();
    }
    let mut twins = twins!();
    for of in [One, Two] {
        same!(twins, body(of));
    }
}

/// Its runtime ends before a wrapped timer of a second is due, which has been polled there. tokio's
/// panics. Ours, made on a worker of a runtime that lives, may be that worker's, and fires.
#[test]
fn a_task_of_a_living_runtime_that_waits_in_the_context_of_one_that_ends() {
    fn body<T: Time>(kind: Kind, of: Kind) -> Result<(), String> {
        let (here, there) = (kind.build(), of.driven());
        let (registered, waits) = oneshot::channel();
        let handle = there.handle.clone();
        let waiter = here.spawn(TokioContext::new(
            async move {
                let mut sleep = T::boxed(secs(1));
                assert!(poll_quietly(&mut sleep).is_pending());
                registered.send(()).unwrap();
                sleep.await;
            },
            handle,
        ));
        here.block_on(async {
            waits.await.unwrap();
            there.end();
            joined(waiter).await
        })
    }
    let mut twins = twins!();
    let panicked = finished(Err::<(), _>(SHUT_DOWN));
    for &of in OTHERS {
        same!(twins, body(Current, of));
        for &kind in MULTI {
            let ours = finished(Ok::<_, ()>(()));
            differs!(twins, body(kind, of), tokio: panicked, wheel: panicked, ours);
        }
    }
}

/// As above; what was made in that context is awaited in the task's own.
#[test]
fn a_timer_made_in_the_context_of_a_runtime_that_ends_is_awaited_outside_of_it() {
    fn body<T: Time>(kind: Kind, of: Kind, registered: bool) -> Result<(), String> {
        let (here, there) = (kind.build(), of.driven());
        in_task(&here, async move {
            let make = async move {
                let mut sleep = T::boxed(ms(200));
                assert!(!registered || poll_quietly(&mut sleep).is_pending());
                sleep
            };
            let sleep = TokioContext::new(make, there.handle.clone()).await;
            there.end();
            sleep.await;
        })
    }
    let mut twins = twins!();
    let panicked = finished(Err::<(), _>(SHUT_DOWN));
    for &of in OTHERS {
        for &kind in KINDS {
            for registered in [false, true] {
                let ours = finished(Ok::<_, ()>(()));
                differs!(twins, body(kind, of, registered), tokio: panicked, wheel: ours);
            }
        }
    }
}

/// The context is that of a runtime that has ended before.
#[test]
fn timers_made_in_the_context_of_a_runtime_that_has_ended() {
    fn body<T: Time>(kind: Kind, of: Kind) -> [Result<(), String>; 2] {
        let (here, there) = (kind.build(), of.build());
        let handle = there.handle().clone();
        end(there);
        let wrapped = in_task(&here, TokioContext::new(ticks::<T>(), handle));
        [wrapped, in_task(&here, ticks::<T>())]
    }
    let mut twins = twins!();
    let panicked = finished([Err::<(), _>(SHUT_DOWN), Ok(())]);
    for &of in OTHERS {
        same!(twins, body(Current, of));
        for &kind in MULTI {
            let fires = finished([Ok::<(), ()>(()), Ok(())]);
            differs!(twins, body(kind, of), tokio: panicked, wheel: panicked, fires);
        }
    }
}

#[test]
fn a_wrapped_task_that_is_dropped_leaves_nothing_behind() {
    fn body<T: Time>(kind: Kind, of: Kind) -> Result<(), String> {
        let (here, there) = (kind.build(), of.driven());
        let handle = there.handle.clone();
        in_task(&here, async move {
            let waiter = tokio::spawn(TokioContext::new(T::sleep(HOUR), handle.clone()));
            ticks::<T>().await;
            waiter.abort();
            assert!(joined(waiter).await.is_err());
            TokioContext::new(ticks::<T>(), handle).await;
            there.end();
            ticks::<T>().await;
        })
    }
    let mut twins = twins!();
    for &kind in KINDS {
        for of in [Current, One, Two] {
            same!(twins, body(kind, of));
        }
    }
}
