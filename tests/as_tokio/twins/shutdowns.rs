//! No task panics when its runtime ends, however the task polls its timers.
//!
//! Tokio drops the tasks first and ends its time driver last. The twins also compare the number of panics. Tokio's
//! alternative timer is left out: with it, tasks of a runtime that ends do panic, and a timer that is due in an hour is
//! ready there.

use super::prelude::*;

use std::future::pending;

use futures::StreamExt as _;
use futures::future::select_all;

use support::End::{self, Background, Drop, Timeout};

const ROUNDS: usize = 30;

/// The future that polls the timers of a task.
#[derive(Clone, Copy, Debug)]
enum Polls {
    Unordered,
    JoinAll,
    SelectAll,
    JoinSet,
    /// `select!` over a timer that stays and one that is made again in each round.
    Select,
    /// The task polls its timer directly.
    Plain,
}

use Polls::{JoinAll, Plain, Select, SelectAll, Unordered};

const TIMEOUT: End = Timeout(Duration::from_secs(5));

fn sleeps<T: Time>(round: u64) -> impl Iterator<Item = Pin<Box<T::Sleep>>> {
    (0..8).map(move |n| T::boxed(Duration::from_micros(100 + (round * 37 + n * 211) % 1500)))
}

async fn polls<T: Time>(how: Polls) {
    let mut kept = T::boxed(HOUR);
    for round in 0.. {
        match how {
            Unordered => {
                let mut sleeps: FuturesUnordered<_> = sleeps::<T>(round).collect();
                while sleeps.next().await.is_some() {}
            }
            JoinAll => drop(join_all(sleeps::<T>(round)).await),
            SelectAll => drop(select_all(sleeps::<T>(round)).await),
            Polls::JoinSet => {
                let mut tasks: JoinSet<()> = sleeps::<T>(round).collect();
                while tasks.join_next().await.is_some() {}
            }
            Select => tokio::select! {
                () = &mut kept => unreachable!(),
                _ = T::timeout(Duration::from_micros(300), pending::<()>()) => {}
            },
            Plain => sleeps::<T>(round).next().unwrap().await,
        }
        // Gives the thread that ends the runtime a chance to run.
        thread::yield_now();
    }
}

/// Ends runtimes with 16 such tasks each, and waits until the last of the tasks is dropped.
fn shut_down<F>(kind: Kind, end: End, task: impl Fn() -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    for _ in 0..ROUNDS {
        let runtime = kind.build();
        let (alive, over) = mpsc::channel::<()>();
        for _ in 0..16 {
            let (task, alive) = (task(), alive.clone());
            runtime.spawn(async move {
                task.await;
                drop(alive);
            });
        }
        drop(alive);
        // This is a Tokio sleep, so that the runtime ends while the timers under test are pending.
        runtime.block_on(async { tokio::time::sleep(ms(3)).await });
        runtime.end(end);
        assert!(over.recv().is_err());
    }
}

#[test]
fn no_task_panics_whatever_polls_its_timers_when_its_runtime_ends() {
    fn body<T: Time>((kind, (polled, end)): (Kind, (Polls, End))) {
        shut_down(kind, end, || polls::<T>(polled));
    }
    let all = [Unordered, JoinAll, SelectAll, Polls::JoinSet, Select, Plain];
    let mut ends = cross(all, [Drop]);
    ends.extend(cross([Unordered, SelectAll, Plain], [Background, TIMEOUT]));
    same(cross(KINDS, ends), body::<Tokio>, body::<Ours>);
}

/// The end of the runtime wakes timers that are due in an hour. Their wakers are not the task's own, and the other worker
/// still runs tasks.
#[test]
fn no_task_panics_that_is_woken_by_the_end_of_its_runtime() {
    fn body<T: Time>((kind, end): (Kind, End)) {
        shut_down(kind, end, || async {
            let long = || (0..8).map(|n| T::boxed(HOUR + ms(n)));
            let mut unordered: FuturesUnordered<_> = long().collect();
            let busy = async {
                loop {
                    yield_now().await;
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
    let cases = cross(KINDS, [Drop, Background, TIMEOUT]);
    same(cases, body::<Tokio>, body::<Ours>);
}
