//! Runtimes that end while their tasks poll timers with wakers of all sorts.
//!
//! tokio drops the tasks first and ends time last, so none of them ever panics: the number of
//! panics is part of what is compared.

use std::future::Future;
use std::sync::mpsc as blocking;
use std::thread;
use std::time::Duration;

use futures::StreamExt as _;
use futures::future::{join_all, select_all};
use futures::stream::FuturesUnordered;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::runtimes::{Current, Kind, One, Two};
use crate::time::Time;
use support::{HOUR, ms, secs};

const ROUNDS: usize = 30;

/// tokio's timers per worker are left out. They do panic in tasks of a runtime that ends, and those
/// that are due in an hour are ready there.
const KINDS: [Kind; 3] = [Current, One, Two];

/// What polls the timers of a task.
#[derive(Clone, Copy, Debug)]
enum Polls {
    Unordered,
    JoinAll,
    SelectAll,
    JoinSet,
    /// `select!` over one timer that stays and one that is made anew.
    Select,
    /// Nothing but the task.
    Plain,
}

#[derive(Clone, Copy, Debug)]
enum How {
    Drop,
    Background,
    Timeout,
}

use How::{Background, Drop, Timeout};

impl How {
    fn end(self, runtime: Runtime) {
        match self {
            Drop => drop(runtime),
            Background => runtime.shutdown_background(),
            Timeout => runtime.shutdown_timeout(secs(5)),
        }
    }
}

fn sleeps<T: Time>(round: u64) -> impl Iterator<Item = std::pin::Pin<Box<T::Sleep>>> {
    (0..8).map(move |n| T::boxed(Duration::from_micros(100 + (round * 37 + n * 211) % 1500)))
}

async fn polls<T: Time>(how: Polls) {
    let mut kept = T::boxed(HOUR);
    for round in 0.. {
        match how {
            Polls::Unordered => {
                let mut sleeps: FuturesUnordered<_> = sleeps::<T>(round).collect();
                while sleeps.next().await.is_some() {}
            }
            Polls::JoinAll => drop(join_all(sleeps::<T>(round)).await),
            Polls::SelectAll => drop(select_all(sleeps::<T>(round)).await),
            Polls::JoinSet => {
                let mut tasks: JoinSet<()> = sleeps::<T>(round).collect();
                while tasks.join_next().await.is_some() {}
            }
            Polls::Select => tokio::select! {
                () = &mut kept => unreachable!(),
                _ = T::timeout(Duration::from_micros(300), std::future::pending::<()>()) => {}
            },
            Polls::Plain => sleeps::<T>(round).next().unwrap().await,
        }
        // Other workers end the runtime meanwhile.
        thread::yield_now();
    }
}

/// Waits until the runtime has dropped the last of its tasks.
fn shut_down<F>(kind: Kind, how: How, tasks: usize, task: impl Fn() -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let runtime = kind.build();
    let (alive, over) = blocking::channel::<()>();
    for _ in 0..tasks {
        let (task, alive) = (task(), alive.clone());
        runtime.spawn(async move {
            task.await;
            drop(alive);
        });
    }
    drop(alive);
    // Nothing of the timers under test: this is what the end is to come upon.
    runtime.block_on(async { tokio::time::sleep(ms(3)).await });
    how.end(runtime);
    assert!(over.recv().is_err());
}

#[test]
fn no_task_panics_whatever_polls_its_timers_when_its_runtime_is_dropped() {
    fn body<T: Time>(kind: Kind, polled: Polls) {
        (0..ROUNDS).for_each(|_| shut_down(kind, Drop, 16, || polls::<T>(polled)));
    }
    let mut twins = twins!();
    for kind in KINDS {
        use Polls::{JoinAll, JoinSet, Plain, Select, SelectAll, Unordered};
        for polled in [Unordered, JoinAll, SelectAll, JoinSet, Select, Plain] {
            same!(twins, body(kind, polled));
        }
    }
}

#[test]
fn no_task_panics_when_its_runtime_is_shut_down_otherwise() {
    fn body<T: Time>(kind: Kind, how: How) {
        for round in 0..ROUNDS {
            let polled = [Polls::Unordered, Polls::SelectAll, Polls::Plain][round % 3];
            shut_down(kind, how, 16, || polls::<T>(polled));
        }
    }
    let mut twins = twins!();
    for kind in KINDS {
        same!(twins, body(kind, Background));
        same!(twins, body(kind, Timeout));
    }
}

/// The end wakes what waits for an hour, by wakers that are not the task's, while the other worker
/// still runs tasks.
#[test]
fn no_task_panics_that_is_woken_by_the_end_of_its_runtime() {
    fn body<T: Time>(kind: Kind, how: How) {
        for _ in 0..ROUNDS {
            shut_down(kind, how, 16, || async {
                let long = || (0..8).map(|n| T::boxed(HOUR + ms(n)));
                let mut unordered: FuturesUnordered<_> = long().collect();
                let busy = async {
                    loop {
                        tokio::task::yield_now().await;
                    }
                };
                tokio::select! {
                    biased;
                    _ = unordered.next() => unreachable!(),
                    _ = join_all(long()) => unreachable!(),
                    () = busy => unreachable!(),
                }
            });
        }
    }
    let mut twins = twins!();
    for kind in KINDS {
        for how in [Drop, Background, Timeout] {
            same!(twins, body(kind, how));
        }
    }
}

/// What a task holds is dropped by the end, and makes and resets timers once more on the way.
#[test]
fn tasks_that_use_timers_while_they_are_dropped() {
    struct Last<T: Time>(Option<std::pin::Pin<Box<T::Sleep>>>);

    impl<T: Time> std::ops::Drop for Last<T> {
        fn drop(&mut self) {
            let mut held = self.0.take().unwrap();
            T::reset(held.as_mut(), tokio::time::Instant::now() + ms(1));
            drop(held);
        }
    }

    fn body<T: Time>(kind: Kind, how: How) {
        for _ in 0..ROUNDS {
            shut_down(kind, how, 16, || async {
                let mut held = T::boxed(HOUR);
                assert!(futures::poll!(&mut held).is_pending());
                let _last = Last::<T>(Some(held));
                T::sleep(HOUR).await;
            });
        }
    }
    let mut twins = twins!();
    for kind in KINDS {
        for how in [Drop, Background] {
            same!(twins, body(kind, how));
        }
    }
}

/// Timers of a runtime that lives, polled by tasks of one that ends, and the other way around.
#[test]
fn runtimes_end_under_timers_of_others() {
    fn body<T: Time>(kind: Kind, of: Kind) -> usize {
        let living = of.driven();
        for _ in 0..ROUNDS {
            let handle = living.handle.clone();
            shut_down(kind, Drop, 16, || {
                let guard = handle.enter();
                let sleeps: FuturesUnordered<_> = sleeps::<T>(0).collect();
                drop(guard);
                async move {
                    sleeps.count().await;
                    polls::<T>(Polls::Unordered).await;
                }
            });
        }
        let tasks: Vec<_> = (0..16)
            .map(|n| living.handle.spawn(async move { T::sleep(ms(n)).await }))
            .collect();
        let ended = futures::executor::block_on(join_all(tasks));
        living.end();
        ended.into_iter().filter(Result::is_ok).count()
    }
    let mut twins = twins!();
    for kind in KINDS {
        for of in KINDS {
            same!(twins, body(kind, of));
        }
    }
}
