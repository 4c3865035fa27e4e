//! Busy runtimes, where whoever makes timers looks at what is due, and quiet ones, where
//! nothing must keep a worker from sleeping.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use futures::future::join_all;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use support::{HOUR, ms, multi_thread, within};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, yield_now};
use wheel::{Instant, sleep, sleep_until, timeout};

/// More than any machine takes for a timer of some milliseconds.
const LIMIT: Duration = Duration::from_secs(60);
/// What a task computes between two yields: more than it takes to be found busy.
const WORK: Duration = Duration::from_micros(50);

fn compute() {
    let until = Instant::now() + WORK;
    while Instant::now() < until {
        std::hint::spin_loop();
    }
}

/// Back into the queue, where `yield_now` lets tokio look at its events first.
async fn requeue() {
    let mut queued = false;
    poll_fn(|cx| {
        if queued {
            return Poll::Ready(());
        }
        queued = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Tells the tasks that keep a runtime busy to stop.
#[derive(Clone, Default)]
struct Stop(Arc<AtomicBool>);

impl Stop {
    fn is_told(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn tell(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Four tasks that yield, as `yield_now` does or by waking themselves.
fn spawn_yielders(runtime: &Runtime, stop: &Stop) {
    for by_itself in [true, false, true, false] {
        let stop = stop.clone();
        runtime.spawn(async move {
            while !stop.is_told() {
                compute();
                if by_itself {
                    requeue().await;
                } else {
                    yield_now().await;
                }
            }
        });
    }
}

/// Four tasks in a ring that wake one another, so that no queue is ever empty.
fn spawn_senders(runtime: &Runtime, stop: &Stop) {
    let (first, mut inbox) = mpsc::channel(8);
    for _ in 0..8 {
        first.try_send(()).unwrap();
    }
    let pass_on = |next: mpsc::Sender<()>, mut inbox: mpsc::Receiver<()>| {
        let stop = stop.clone();
        runtime.spawn(async move {
            while inbox.recv().await.is_some() && !stop.is_told() {
                compute();
                if next.send(()).await.is_err() {
                    return;
                }
            }
        });
    };
    for _ in 0..3 {
        let (next, receiver) = mpsc::channel(8);
        pass_on(next, std::mem::replace(&mut inbox, receiver));
    }
    pass_on(first, inbox);
}

fn spawn_nothing(_: &Runtime, _: &Stop) {}

/// Sleeps again and again for 0–8 ms, never too short.
async fn sleep_often(seed: u64) {
    let mut rng = SmallRng::seed_from_u64(seed);
    for _ in 0..20 {
        let deadline = Instant::now() + Duration::from_micros(rng.random_range(0..8_000));
        sleep_until(deadline).await;
        assert!(Instant::now() >= deadline, "early");
    }
}

fn sleepers(runtime: &Runtime) -> Vec<JoinHandle<()>> {
    (0..20)
        .map(|seed| runtime.spawn(sleep_often(seed)))
        .collect()
}

#[test]
fn whatever_keeps_a_runtime_busy_no_timer_is_early_and_all_fire() {
    within(LIMIT, || {
        for load in [spawn_nothing, spawn_yielders, spawn_senders] {
            for workers in [1, 2] {
                let runtime = multi_thread(workers);
                let stop = Stop::default();
                load(&runtime, &stop);
                for slept in runtime.block_on(join_all(sleepers(&runtime))) {
                    slept.unwrap();
                }
                stop.tell();
            }
        }
    });
}

/// tokio looks at its timers after a million polls here, and the queue is never
/// empty. Whoever makes timers all the time looks at what is due.
#[test]
fn where_timers_are_made_they_fire_before_tokio_looks_at_its_own() {
    const POLLS: usize = 100_000;
    within(LIMIT, || {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .event_interval(1_000_000)
            .enable_all()
            .build()
            .unwrap();
        let stop = Stop::default();
        let told = stop.clone();
        let busy = runtime.spawn(async move {
            let sleeper = tokio::spawn(async move {
                for _ in 0..20 {
                    sleep(ms(2)).await;
                }
                stop.tell();
                wheel::metrics().snapshot().driver_noops
            });
            for _ in 0..POLLS {
                if told.is_told() {
                    return sleeper.await.unwrap();
                }
                compute();
                timeout(HOUR, requeue()).await.unwrap();
            }
            panic!("after {POLLS} polls a timer has not fired");
        });
        let start = Instant::now();
        let looked_in_vain = runtime.block_on(busy).unwrap();
        // Once a millisecond it is looked up whether what is due soon has been cancelled.
        let most = start.elapsed().as_millis() + 10;
        assert!(
            u128::from(looked_in_vain) < most,
            "{looked_in_vain} looks in vain, not {most}"
        );
    });
}

/// A worker that is kept from sleeping does not park.
fn parks_while_sleeping(runtime: &Runtime, sleeps: u64) -> u64 {
    let parks = || runtime.metrics().worker_park_count(0);
    let before = parks();
    let slept = runtime.spawn(async move {
        for _ in 0..sleeps {
            sleep(ms(2)).await;
        }
    });
    runtime.block_on(slept).unwrap();
    parks() - before
}

#[test]
fn in_a_quiet_runtime_the_worker_sleeps_between_its_timers() {
    within(LIMIT, || {
        let runtime = multi_thread(1);
        assert!(parks_while_sleeping(&runtime, 100) >= 50, "from the start");
        for load in [spawn_yielders, spawn_senders] {
            let stop = Stop::default();
            load(&runtime, &stop);
            runtime.block_on(join_all(sleepers(&runtime)));
            stop.tell();
            let parks = parks_while_sleeping(&runtime, 100);
            assert!(parks >= 50, "after it was busy: {parks}");
        }
    });
}

#[test]
fn a_busy_runtime_with_timers_ends() {
    within(LIMIT, || {
        for load in [spawn_yielders, spawn_senders] {
            let runtime = multi_thread(2);
            load(&runtime, &Stop::default());
            for time in [ms(5), ms(40), HOUR] {
                runtime.spawn(async move { sleep(time).await });
            }
            thread::sleep(ms(20));
            drop(runtime);
        }
    });
}
