//! A current-thread runtime per thread, each with a `LocalSet`; and several on one thread.

use std::cell::Cell;
use std::rc::Rc;
use std::thread;

use tokio::sync::mpsc;
use tokio::task::{LocalSet, spawn_local};

use crate::runtimes::{Current, KINDS, Kind, joined, ticks};
use crate::time::Time;
use support::{HOUR, ms, poll_quietly};

/// Four threads pass a token around, and sleep before they pass it on.
#[test]
fn four_runtimes_on_four_threads_alternate() {
    fn body<T: Time>() -> Vec<usize> {
        const ROUNDS: usize = 10;
        let (channels, inboxes): (Vec<_>, Vec<_>) = (0..4).map(|_| mpsc::channel::<()>(1)).unzip();
        let first = channels[0].clone();
        let run = |(n, mut inbox): (usize, mpsc::Receiver<()>)| {
            let next = channels[(n + 1) % 4].clone();
            thread::spawn(move || {
                let (runtime, local) = (Current.build(), LocalSet::new());
                let passed = Rc::new(Cell::new(0));
                let counts = passed.clone();
                local.spawn_local(async move {
                    // Beside it, a timer that is made and dropped each round.
                    while T::timeout(HOUR, inbox.recv()).await == Ok(Some(())) {
                        let nap = spawn_local(T::sleep(ms(1)));
                        ticks::<T>().await;
                        nap.await.unwrap();
                        counts.set(counts.get() + 1);
                        let _ = next.send(()).await;
                        if counts.get() == ROUNDS {
                            break;
                        }
                    }
                });
                runtime.block_on(local);
                passed.get()
            })
        };
        let threads: Vec<_> = inboxes.into_iter().enumerate().map(run).collect();
        first.blocking_send(()).unwrap();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    }
    let mut twins = twins!();
    same!(twins, body());
}

/// The timers of the token's last holder are polled by the next.
#[test]
fn four_threads_pass_a_timer_around() {
    fn body<T: Time>() -> usize {
        type Token<T> = (usize, std::pin::Pin<Box<<T as Time>::Sleep>>);
        let (channels, inboxes): (Vec<_>, Vec<_>) =
            (0..4).map(|_| mpsc::channel::<Token<T>>(1)).unzip();
        let (done, mut all_done) = mpsc::channel(1);
        let first = channels[0].clone();
        let stop = tokio_util::sync::CancellationToken::new();
        let run = |(n, mut inbox): (usize, mpsc::Receiver<Token<T>>)| {
            let (next, done) = (channels[(n + 1) % 4].clone(), done.clone());
            let stop = stop.clone();
            thread::spawn(move || {
                let (runtime, local) = (Current.build(), LocalSet::new());
                local.spawn_local(async move {
                    while let Some((round, sleep)) = inbox.recv().await {
                        sleep.await;
                        if round == 20 {
                            let _ = done.send(round).await;
                            return;
                        }
                        let mut sleep = T::boxed(ms(2));
                        // A slow machine finds it due.
                        let _pending = (round % 2 == 1).then(|| poll_quietly(&mut sleep));
                        next.send((round + 1, sleep)).await.ok().unwrap();
                    }
                });
                // Until all are done, for the timers of others are this one's.
                local.block_on(&runtime, stop.cancelled());
            })
        };
        let threads: Vec<_> = inboxes.into_iter().enumerate().map(run).collect();
        let maker = Current.driven();
        let guard = maker.handle.enter();
        first.blocking_send((1, T::boxed(ms(1)))).ok().unwrap();
        drop(guard);
        let rounds = all_done.blocking_recv().unwrap();
        stop.cancel();
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        maker.end();
        rounds
    }
    let mut twins = twins!();
    same!(twins, body());
}

#[test]
fn several_runtimes_take_turns_on_one_thread() {
    fn body<T: Time>(kind: Kind, ends: bool) -> Vec<usize> {
        let mut runtimes: Vec<_> = (0..4).map(|_| (kind.build(), LocalSet::new())).collect();
        let counts: Vec<_> = runtimes
            .iter()
            .map(|(runtime, local)| {
                let count = Rc::new(Cell::new(0));
                let counts = count.clone();
                local.spawn_local(async move {
                    for _ in 0..3 {
                        ticks::<T>().await;
                        counts.set(counts.get() + 1);
                    }
                });
                runtime.spawn(async {
                    loop {
                        ticks::<T>().await;
                    }
                });
                count
            })
            .collect();
        let mut turn = 0;
        while counts.iter().any(|count| count.get() < 3) && !runtimes.is_empty() {
            turn += 1;
            let (runtime, local) = &runtimes[turn % runtimes.len()];
            local.block_on(runtime, ticks::<T>());
            let done = counts.iter().position(|count| count.get() == 3);
            if ends && done == Some(0) && runtimes.len() == 4 {
                // The first of them ends; the others go on.
                drop(runtimes.remove(0));
            }
        }
        counts.iter().map(|count| count.get()).collect()
    }
    let mut twins = twins!();
    for &kind in KINDS {
        same!(twins, body(kind, false));
        same!(twins, body(kind, true));
    }
}

/// A thread is a worker of a runtime first, and drives others later; so its timers may not stay.
#[test]
fn a_thread_serves_one_runtime_after_the_other() {
    fn body<T: Time>(kind: Kind) -> Vec<Result<(), String>> {
        let mut ends = Vec::new();
        let mut left = Vec::new();
        for round in 0..20 {
            let runtime = kind.build();
            let task = runtime.spawn(ticks::<T>());
            ends.push(runtime.block_on(joined(task)));
            runtime.block_on(async {
                let mut sleep = T::boxed(HOUR);
                assert!(poll_quietly(&mut sleep).is_pending());
                left.push(sleep);
            });
            // Dropped late, and out of order.
            if round % 3 == 2 {
                drop(left.remove(0));
            }
        }
        ends
    }
    let mut twins = twins!();
    for &kind in KINDS {
        same!(twins, body(kind));
    }
}
