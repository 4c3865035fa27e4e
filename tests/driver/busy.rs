//! In a busy runtime timers fire, none early: a task that makes timers fires due ones.
//!
//! Quiet runtimes: `timing/parks.rs`.

use std::sync::{Arc, Mutex};
use std::task::{Wake, Waker};
use std::thread;

use futures::future::join_all;
use support::load::{Stop, compute, requeue, sleepers, spawn_senders, spawn_yielders};
use support::{Count, HOUR, ms, multi_thread, poll, with_workers, within};
use tokio::runtime::Runtime;
use wheel::{Instant, Sleep, sleep, timeout};

use crate::everywhere::LIMIT;

fn spawn_nothing(_: &Runtime, _: &Stop) {}

#[test]
fn whatever_keeps_a_runtime_busy_no_timer_is_early_and_all_fire() {
    within(LIMIT, || {
        for load in [spawn_nothing, spawn_yielders, spawn_senders] {
            for workers in [1, 2] {
                let runtime = multi_thread(workers);
                let stop = Stop::default();
                load(&runtime, &stop);
                for slept in runtime.block_on(join_all(sleepers(&runtime, 20, 20, 8_000))) {
                    slept.unwrap();
                }
                stop.tell();
            }
        }
    });
}

/// tokio looks at its timers after a million polls here, and the queue is never
/// empty. A task that makes timers all the time fires due timers.
#[test]
fn where_timers_are_made_they_fire_before_tokio_looks_at_its_own() {
    const POLLS: usize = 100_000;
    within(LIMIT, || {
        let runtime = with_workers(1).event_interval(1_000_000).build().unwrap();
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
        // At most once a millisecond, the driver looks whether a timer due soon has been cancelled.
        let most = start.elapsed().as_millis() + 10;
        assert!(
            u128::from(looked_in_vain) < most,
            "{looked_in_vain} looks in vain, not {most}"
        );
    });
}

/// A waker that sleeps for no time, again and again.
struct Loop {
    sleep: Mutex<Option<Sleep>>,
    rounds: Arc<Count>,
    stop: Stop,
}

impl Loop {
    fn arm(self: Arc<Self>) {
        let waker = Waker::from(Arc::clone(&self));
        let mut next = sleep(ms(0));
        while poll(&mut next, &waker).is_ready() {
            next = sleep(ms(0));
        }
        let old = self.sleep.lock().unwrap().replace(next);
        drop(old);
    }
}

impl Wake for Loop {
    fn wake(self: Arc<Self>) {
        Arc::clone(&self.rounds).wake();
        if !self.stop.is_told() {
            self.arm();
        }
    }
}

/// A worker that blocks makes the alarm late, and so many timers are due that one turn does not
/// fire all of them. A timer that a waker makes in such a turn fires in a later millisecond.
#[test]
fn no_timer_is_finer_than_tokios_clock_after_a_late_alarm() {
    const LOOPS: usize = 300;
    let (rounds, stop) = (Count::new(), Stop::default());
    let counted = Arc::clone(&rounds);
    within(LIMIT, move || {
        let runtime = with_workers(1).build().unwrap();
        let task = runtime.spawn(async move {
            let start = Instant::now();
            for _ in 0..LOOPS {
                let (sleep, rounds, stop) = (Mutex::new(None), rounds.clone(), stop.clone());
                Arc::new(Loop {
                    sleep,
                    rounds,
                    stop,
                })
                .arm();
            }
            for _ in 0..20 {
                thread::sleep(ms(4));
                tokio::time::sleep(ms(5)).await;
            }
            stop.tell();
            start.elapsed()
        });
        let elapsed = runtime.block_on(task).unwrap();
        let rounds = counted.wakes() / LOOPS;
        let most = elapsed.as_millis() + 2;
        assert!(rounds as u128 <= most, "{rounds} rounds in {elapsed:?}");
    });
}
