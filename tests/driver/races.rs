//! Real threads: while timers are dropped, reset and armed as they fire, none is early, lost or woken twice.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::task::{Wake, Waker};
use std::thread;
use std::time::Duration;

use support::{
    HOUR, Random, current_thread, eventually, ms, multi_thread, poll, poll_quietly, secs, within,
};
use tokio::runtime::Runtime;
use wheel::{Instant, Sleep, Wheel, sleep};

use crate::everywhere::{LIMIT, inside, wheel_of};
use crate::shutdown::pending_in;

/// Notes how often it is woken, and whether that was before its deadline.
struct Witness {
    deadline: std::time::Instant,
    wakes: AtomicUsize,
    early: AtomicBool,
}

impl Witness {
    fn new(deadline: Instant) -> Arc<Self> {
        let deadline = deadline.into_std();
        Arc::new(Witness {
            deadline,
            wakes: AtomicUsize::new(0),
            early: AtomicBool::new(false),
        })
    }

    fn wakes(&self) -> usize {
        assert!(!self.early.load(Ordering::SeqCst), "woken early");
        self.wakes.load(Ordering::SeqCst)
    }
}

impl Wake for Witness {
    fn wake(self: Arc<Self>) {
        if std::time::Instant::now() < self.deadline {
            self.early.store(true, Ordering::SeqCst);
        }
        self.wakes.fetch_add(1, Ordering::SeqCst);
    }
}

type Armed = (Sleep, Arc<Witness>);

/// A pending timer and its witness; none if this machine was too slow to arm it.
fn armed(wheel: &Wheel, duration: Duration) -> Option<Armed> {
    let sleep = wheel.sleep(duration);
    let deadline = sleep.deadline();
    polled(sleep, deadline)
}

/// The same, of a timer that is reset.
fn armed_anew(mut sleep: Sleep, deadline: Instant) -> Option<Armed> {
    sleep.reset_unpin(deadline);
    polled(sleep, deadline)
}

fn polled(mut sleep: Sleep, deadline: Instant) -> Option<Armed> {
    let witness = Witness::new(deadline);
    let is_pending = poll(&mut sleep, &Waker::from(witness.clone())).is_pending();
    assert!(is_pending || Instant::now() >= deadline, "early");
    is_pending.then_some((sleep, witness))
}

#[track_caller]
fn all_fire_once(armed: Vec<Armed>) {
    for (mut sleep, witness) in armed {
        eventually("fired", || witness.wakes() > 0);
        assert_eq!(witness.wakes(), 1, "exactly once");
        assert!(poll_quietly(&mut sleep).is_ready());
    }
}

fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

fn spin_until(time: Instant) {
    while Instant::now() < time {
        std::hint::spin_loop();
    }
}

#[test]
fn dropping_races_with_firing() {
    within(LIMIT, || {
        let runtime = multi_thread(2);
        let wheel = wheel_of(&runtime);
        let (send, receive) = mpsc::channel::<Armed>();
        let dropper = thread::spawn(move || {
            let mut witnesses = Vec::new();
            for (sleep, witness) in receive {
                // About when it is due, and sometimes exactly then.
                let jitter = us(witnesses.len() as u64 % 7 * 300);
                spin_until(sleep.deadline() + jitter - us(900));
                drop(sleep);
                witnesses.push(witness);
            }
            witnesses
        });
        let mut random = Random::new(11);
        let mut kept = Vec::new();
        for _ in 0..2000 {
            let duration = us(500 + random.below(2000));
            if let Some(pair) = armed(&wheel, duration) {
                send.send(pair).unwrap();
            }
            kept.extend(armed(&wheel, duration));
        }
        drop(send);
        all_fire_once(kept);
        for witness in dropper.join().unwrap() {
            assert!(witness.wakes() <= 1);
            eventually("the waker is freed", || Arc::strong_count(&witness) == 1);
        }
        eventually("nothing is left", || wheel.pending() == 0);
    });
}

#[test]
fn resetting_races_with_firing() {
    within(LIMIT, || {
        let runtime = multi_thread(2);
        let wheel = wheel_of(&runtime);
        let mut random = Random::new(5);
        for round in 0..600 {
            let Some((sleep, _)) = armed(&wheel, us(1500)) else {
                continue;
            };
            spin_until(sleep.deadline() - us(random.below(1200)));
            let deadline = match round % 3 {
                0 => Instant::now() + ms(1),
                1 => Instant::now() + ms(20),
                _ => sleep.deadline() + us(100),
            };
            // By now it may have fired, or be elapsed; polled, it is never early.
            if let Some((mut sleep, witness)) = armed_anew(sleep, deadline) {
                eventually("fired after the reset", || witness.wakes() == 1);
                assert!(poll_quietly(&mut sleep).is_ready());
            }
        }
        eventually("nothing is left", || wheel.pending() == 0);
    });
}

/// Arms, cancels, resets and keeps timers at random, until told to stop; those that are to fire.
fn arm_cancel_and_reset(wheel: &Wheel, seed: u64, stop: &AtomicBool) -> Vec<Armed> {
    let mut random = Random::new(seed);
    let mut kept = Vec::new();
    let mut ring = [const { None::<Armed> }; 64];
    while !stop.load(Ordering::Relaxed) {
        let place = &mut ring[random.below(64) as usize];
        match random.below(8) {
            0..4 => *place = armed(wheel, us(random.below(20_000))),
            4 => *place = None,
            5 => {
                let deadline = Instant::now() + us(random.below(9000));
                kept.extend(
                    place
                        .take()
                        .and_then(|(sleep, _)| armed_anew(sleep, deadline)),
                );
            }
            6 => drop(armed(wheel, HOUR)),
            _ => kept.extend(place.take()),
        }
        if kept.len() > 20_000 {
            kept.retain(|(_, witness)| witness.wakes() == 0);
        }
    }
    kept
}

/// Several threads do so, inside the runtime or outside, while a crowd fires.
fn storm(wheel: &Wheel, crowd: usize, threads: u64, runtime: Option<&Runtime>) {
    let (stop, start) = (AtomicBool::new(false), Barrier::new(threads as usize + 1));
    let run = |seed| {
        let _guard = runtime.map(Runtime::enter);
        start.wait();
        arm_cancel_and_reset(wheel, seed, &stop)
    };
    thread::scope(|scope| {
        let run = &run;
        let workers: Vec<_> = (0..threads)
            .map(|n| scope.spawn(move || run(n + 77)))
            .collect();
        let mut random = Random::new(1);
        let crowd: Vec<_> = (0..crowd)
            .filter_map(|_| armed(wheel, us(300_000 + random.below(300_000))))
            .collect();
        start.wait();
        all_fire_once(crowd);
        stop.store(true, Ordering::Relaxed);
        for worker in workers {
            all_fire_once(worker.join().unwrap());
        }
    });
    eventually("nothing is left", || wheel.pending() == 0);
}

#[test]
fn threads_arm_and_cancel_while_half_a_million_fire() {
    within(LIMIT, || {
        let runtime = multi_thread(2);
        storm(&wheel_of(&runtime), 500_000, 2, Some(&runtime));
    });
}

#[test]
fn threads_outside_the_runtime_arm_and_cancel_while_others_fire() {
    within(LIMIT, || {
        let runtime = multi_thread(2);
        storm(&wheel_of(&runtime), 50_000, 3, None);
    });
}

#[test]
fn one_shard_for_everybody_and_many_with_long_holds() {
    within(LIMIT, || {
        for (shards, entries, threads) in [(1, 1, 4), (64, 4096, 2)] {
            let runtime = multi_thread(2);
            let builder = Wheel::builder().shards(shards).entries_per_hold(entries);
            let wheel = inside(&runtime, || builder.build().unwrap());
            storm(&wheel, 50_000, threads, Some(&runtime));
        }
    });
}

/// Arms a timer that is far, so that the plan is far away, and then short ones, again and again.
fn arm_earlier_and_earlier(wheel: &Wheel, seed: u64) {
    let mut random = Random::new(seed);
    for _ in 0..400 {
        let _far = armed(wheel, HOUR);
        let short = [(); 3].map(|()| armed(wheel, us(100 + random.below(1500))));
        for (_, witness) in short.into_iter().flatten() {
            let since = Instant::now();
            while witness.wakes() == 0 {
                assert!(since.elapsed() < secs(10), "missed");
                thread::yield_now();
            }
        }
    }
}

#[test]
fn an_earlier_timer_is_never_missed_by_a_driver_about_to_sleep() {
    // Arms ever earlier deadlines from two threads, just as the alarm is moved.
    within(LIMIT, || {
        let runtime = &multi_thread(2);
        let wheel = &wheel_of(runtime);
        thread::scope(|scope| {
            for seed in [40, 41] {
                let run = move || arm_earlier_and_earlier(wheel, seed);
                scope.spawn(move || inside(runtime, run));
            }
        });
        eventually("nothing is left", || wheel.pending() == 0);
    });
}

/// Drivers are used again: by another thread's runtime as soon as one has ended.
#[test]
fn runtimes_that_start_and_end_on_many_threads_keep_their_timers_apart() {
    fn start_and_end(n: usize) {
        let mut relics = Vec::new();
        for round in 0..150 {
            let runtime = match (n + round) % 8 {
                0 => multi_thread(1),
                _ => current_thread(),
            };
            let wheel = wheel_of(&runtime);
            let held = [(); 5].map(|()| pending_in(&runtime, HOUR));
            relics.truncate(20);
            assert_eq!(wheel.pending(), 5);
            runtime.block_on(async { sleep(us(300)).await });
            assert!(held.iter().all(|(_, count)| count.wakes() == 0));
            drop(runtime);
            assert!(held.iter().all(|(_, count)| count.wakes() == 1));
            relics.splice(0..0, held);
        }
    }
    within(LIMIT, || {
        thread::scope(|scope| {
            for n in 0..4 {
                scope.spawn(move || start_and_end(n));
            }
        });
    });
}
