//! Timers go on with a runtime per thread, and with several runtimes on one thread.

use crate::prelude::*;

use tokio::sync::mpsc;

/// A timer that the last thread has made, and the next thread polls; and the number of the round.
type Token<T> = (usize, Pin<Box<<T as Time>::Sleep>>);

/// Passes the token on after timers of its own, for twenty rounds. Returns how often.
async fn pass_on<T: Time>(
    mut inbox: mpsc::Receiver<Token<T>>,
    next: mpsc::Sender<Token<T>>,
) -> usize {
    let mut passed = 0;
    // Beside the token, a timer that is made and dropped each round.
    while let Ok(Some((round, sleep))) = T::timeout(HOUR, inbox.recv()).await {
        sleep.await;
        let nap = spawn_local(T::sleep(ms(1)));
        ticks::<T>().await;
        nap.await.unwrap();
        if round == 20 {
            break;
        }
        passed += 1;
        let mut sleep = T::boxed(ms(2));
        // On a slow machine the timer is due already.
        let _pending = (round % 2 == 1).then(|| poll_quietly(&mut sleep));
        next.send((round + 1, sleep)).await.ok().unwrap();
    }
    passed
}

#[test]
fn four_threads_pass_a_timer_around() {
    fn body<T: Time>() -> Vec<usize> {
        let (mut channels, inboxes): (Vec<_>, Vec<_>) =
            (0..4).map(|_| mpsc::channel::<Token<T>>(1)).unzip();
        let maker = Current.driven();
        let guard = maker.handle.enter();
        let first = (1, T::boxed(ms(1)));
        channels[0].try_send(first).ok().unwrap();
        drop(guard);
        channels.rotate_left(1);
        let run = |(inbox, next)| {
            thread::spawn(|| LocalSet::new().block_on(&Current.build(), pass_on::<T>(inbox, next)))
        };
        let threads: Vec<_> = inboxes.into_iter().zip(channels).map(run).collect();
        let passed = threads.into_iter().map(|thread| thread.join().unwrap());
        let passed = passed.collect();
        maker.end();
        passed
    }
    same_once(body::<Tokio>, body::<Ours>);
}

/// The others go on when the first has ended.
#[test]
fn several_runtimes_take_turns_on_one_thread() {
    fn body<T: Time>((kind, ends): (Kind, bool)) -> Vec<Result<(), String>> {
        let begin = |_| {
            let (runtime, local) = (kind.build(), LocalSet::new());
            runtime.spawn(async {
                loop {
                    ticks::<T>().await;
                }
            });
            let task = local.spawn_local(async {
                for _ in 0..3 {
                    ticks::<T>().await;
                }
            });
            (runtime, local, task)
        };
        let mut all: Vec<_> = (0..4).map(begin).collect();
        for turn in 0..16 {
            if ends && turn == 8 {
                drop(all.remove(0));
            }
            let (runtime, local, _) = &all[turn % all.len()];
            local.block_on(runtime, ticks::<T>());
        }
        let last =
            |(runtime, local, task): (_, LocalSet, _)| local.block_on(&runtime, joined(task));
        all.into_iter().map(last).collect()
    }
    same(cross(KINDS, [false, true]), body::<Tokio>, body::<Ours>);
}

/// A thread is a worker of a runtime first, and drives others later; so its timers may not stay.
#[test]
fn a_thread_serves_one_runtime_after_the_other() {
    fn body<T: Time>(kind: Kind) -> Vec<Result<(), String>> {
        let (mut ends, mut left) = (Vec::new(), Vec::new());
        for round in 0..20 {
            let runtime = kind.build();
            ends.push(in_task(&runtime, ticks::<T>()));
            runtime.block_on(async {
                left.push(registered(T::boxed(HOUR)));
            });
            // Dropped late, and out of order.
            if round % 3 == 2 {
                drop(left.remove(0));
            }
        }
        ends
    }
    same(KINDS, body::<Tokio>, body::<Ours>);
}
