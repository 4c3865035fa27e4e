//! Task dumps (`tokio_unstable` and tokio's feature `taskdump`): a poll that a dump traces leaves each timer as it was,
//! and a dump stops no task.
//!
//! In a traced poll, each of Tokio's leaf futures is pending and registers nothing. If the driver took the alarm for
//! armed then, the timer would never fire.

use super::prelude::*;

use tokio::runtime::dump::{Trace, trace_with};

/// Where the traced poll happens.
#[derive(Clone, Copy, Debug)]
enum Place {
    BlockOn,
    Task,
    /// On a thread that drives no runtime, inside `enter()`.
    PlainThread,
}

const PLACES: [Place; 3] = [Place::BlockOn, Place::Task, Place::PlainThread];

#[derive(Clone, Copy, Debug)]
enum Use {
    Sleep(u64),
    Reset(u64),
    Interval,
    Timeout,
}

const USES: [Use; 5] = [
    Use::Sleep(0),
    Use::Sleep(10),
    Use::Reset(10),
    Use::Interval,
    Use::Timeout,
];

/// Polls a future once in a trace, and then awaits it as usual.
async fn traced_first<F: Future>(future: F) -> F::Output {
    let mut future = Box::pin(future);
    let first = poll_fn(|cx| {
        let _ = Trace::capture(|| future.as_mut().poll(cx));
        Poll::Ready(future.as_mut().poll(cx))
    });
    match first.await {
        Poll::Ready(output) => output,
        Poll::Pending => future.await,
    }
}

impl Use {
    async fn of<T: Time>(self) {
        match self {
            Use::Sleep(after) => traced_first(T::sleep(ms(after))).await,
            Use::Reset(after) => {
                let mut sleep = T::boxed(HOUR);
                let _ = Trace::capture(|| sleep.as_mut().reset(Instant::now() + ms(after)));
                sleep.await;
            }
            Use::Interval => {
                let mut interval = T::interval(ms(5));
                interval.tick().await;
                traced_first(interval.tick()).await;
            }
            Use::Timeout => {
                let timeout = T::timeout(ms(10), std::future::pending::<()>());
                traced_first(timeout).await.unwrap_err();
            }
        }
    }
}

#[test]
fn a_traced_poll_leaves_a_timer_as_it_was() {
    type Case = ((Kind, Place), Use, bool);

    fn body<T: Time>(((kind, place), uses, is_first): Case) {
        let runtime = kind.build();
        if !is_first {
            runtime.block_on(async { T::sleep(ms(2)).await });
        }
        match place {
            Place::BlockOn => runtime.block_on(uses.of::<T>()),
            Place::Task => in_task(&runtime, uses.of::<T>()).unwrap(),
            Place::PlainThread => {
                let Driven { handle, .. } = &kind.driven();
                let entered = handle.enter();
                futures::executor::block_on(uses.of::<T>());
                drop(entered);
            }
        }
    }
    let cases = cross3(cross(KINDS, PLACES), USES, [false, true]);
    same(cases, body::<Tokio>, body::<Ours>);
}

/// The entry is due, and stays in the queue until a poll that is not traced.
#[test]
fn a_traced_poll_takes_no_entry_from_a_queue() {
    Current.build().block_on(async {
        let due = Instant::now();
        let mut queue = wheel::DelayQueue::new();
        queue.insert_at(5, due);
        let traced = poll_fn(|cx| Poll::Ready(Trace::capture(|| queue.poll_expired(cx)).0));
        assert!(traced.await.is_pending());
        assert_eq!(queue.next().await.unwrap().into_inner(), 5);
    });
}

/// All timers are due before the dump. In a large crowd, most tasks have not been polled since.
#[test]
fn a_dump_of_a_current_thread_runtime_loses_no_task() {
    fn body<T: Time>(tasks: usize) {
        Current.build().block_on(async {
            T::sleep(ms(1)).await;
            let tasks = (0..tasks).map(|_| tokio::spawn(T::sleep(ms(5))));
            let tasks: Vec<_> = tasks.collect();
            yield_now().await;
            thread::sleep(ms(20));
            Handle::current().dump().await;
            for task in tasks {
                task.await.unwrap();
            }
        });
    }
    same([1, 200, 5_000], body::<Tokio>, body::<Ours>);
}

/// There are few tasks, because a dump never ends if more than 128 are in the run queues. There is one worker, because a
/// dump sometimes hangs if there are two. Both also happen with Tokio's timers.
#[test]
fn dumps_of_a_runtime_with_workers_lose_no_task() {
    fn body<T: Time>(kind: Kind) {
        kind.build().block_on(async {
            T::sleep(ms(1)).await;
            let sleepers = |after| (0..20).map(move |_| tokio::spawn(T::sleep(ms(after))));
            let tasks: Vec<_> = [1, 5, 20].into_iter().flat_map(sleepers).collect();
            for _ in 0..5 {
                Handle::current().dump().await;
                T::sleep(ms(3)).await;
            }
            for task in tasks {
                task.await.unwrap();
            }
        });
    }
    same([One], body::<Tokio>, body::<Ours>);
}

/// A callback of `trace_with` is user code, and may use timers.
#[test]
fn a_callback_of_a_trace_uses_a_timer() {
    fn body<T: Time>((kind, after): (Kind, u64)) {
        kind.build().block_on(async move {
            let mut sleep = T::boxed(ms(after));
            poll_fn(|cx| {
                let traced = || {
                    let mut another = T::boxed(ms(after));
                    let _ = poll_quietly(&mut another);
                };
                let _ = trace_with(|| sleep.as_mut().poll(cx), |_| traced());
                sleep.as_mut().poll(cx)
            })
            .await;
        });
    }
    same(cross(KINDS, [0, 10]), body::<Tokio>, body::<Ours>);
}

/// A dump shows a task that waits for a timer, because the timer is a leaf of the trace.
#[test]
fn a_task_that_waits_for_a_timer_has_a_leaf_in_a_dump() {
    fn body<T: Time>(uses: Use) -> bool {
        Current.build().block_on(async {
            T::sleep(ms(1)).await;
            let task = tokio::spawn(async move {
                match uses {
                    Use::Timeout => drop(T::timeout(HOUR, std::future::pending::<()>()).await),
                    Use::Interval => drop(T::interval_at(Instant::now() + HOUR, HOUR).tick().await),
                    Use::Sleep(_) | Use::Reset(_) => T::sleep(HOUR).await,
                }
            });
            yield_now().await;
            let dump = Handle::current().dump().await;
            let dumped = dump.tasks().iter().find(|dumped| dumped.id() == task.id());
            dumped.is_some_and(|dumped| !dumped.trace().to_string().is_empty())
        })
    }
    let uses = [Use::Sleep(0), Use::Interval, Use::Timeout];
    same(uses, body::<Tokio>, body::<Ours>);
}
