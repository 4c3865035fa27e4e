//! While threads arm, reset and drop timers as others fire, no timer is early, lost or woken twice.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use support::{
    Count, HOUR, Random, current_thread, eventually, ms, multi_thread, poll_quietly, secs, within,
};
use tokio::runtime::Runtime;
use wheel::{Instant, Sleep, Wheel, sleep};

use crate::everywhere::{LIMIT, Watched, inside, us, watched, wheel_of};
use crate::shutdown::{is_shut_down, pending_in};

/// None if this machine was too slow to arm it.
fn armed(wheel: &Wheel, duration: Duration) -> Option<Watched> {
    watched(wheel.sleep(duration))
}

fn armed_anew(mut sleep: Sleep, deadline: Instant) -> Option<Watched> {
    sleep.reset_unpin(deadline);
    watched(sleep)
}

#[track_caller]
fn all_fire_once(armed: Vec<Watched>) {
    for (mut sleep, woken) in armed {
        eventually("fired", || !woken.entries().is_empty());
        assert_eq!(woken.entries(), [true], "once and not early");
        assert!(poll_quietly(&mut sleep).is_ready());
    }
}

/// Arms, cancels, resets and keeps timers at random, until told to stop; those that are to fire.
fn arm_cancel_and_reset(wheel: &Wheel, seed: u64, stop: &AtomicBool) -> Vec<Watched> {
    let mut random = Random::new(seed);
    let mut kept = Vec::new();
    let mut ring = [const { None::<Watched> }; 64];
    while !stop.load(Ordering::Relaxed) {
        let place = &mut ring[random.below(64) as usize];
        match random.below(8) {
            0..4 => *place = armed(wheel, us(random.below(20_000))),
            4 => *place = None,
            5 => {
                let deadline = Instant::now() + us(random.below(9000));
                let taken = place.take();
                kept.extend(taken.and_then(|(sleep, _)| armed_anew(sleep, deadline)));
            }
            6 => drop(armed(wheel, HOUR)),
            _ => kept.extend(place.take()),
        }
        if kept.len() > 20_000 {
            kept.retain(|(_, woken)| woken.entries() != [true]);
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
        for (_, woken) in short.into_iter().flatten() {
            let since = Instant::now();
            while woken.entries() != [true] {
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

/// What may be done with a timer whose runtime has ended.
fn do_to_a_relic(relic: &mut Sleep, choice: usize) {
    match choice % 4 {
        0 => {}
        1 => is_shut_down(relic),
        2 => relic.reset_unpin(Instant::now() + ms(1)),
        _ => relic.reset_unpin(Instant::now()),
    }
}

/// Drivers are used again: by another thread's runtime as soon as one has ended.
fn start_and_end_runtimes(thread: usize) {
    let mut relics = Vec::new();
    for round in thread..thread + 150 {
        let runtime = match round % 8 {
            0 => multi_thread(1),
            _ => current_thread(),
        };
        let wheel = wheel_of(&runtime);
        let held = [(); 5].map(|()| pending_in(&runtime, HOUR));
        assert_eq!(wheel.pending(), 5);
        // Relics of all ages, with the same keys.
        for _ in 0..relics.len().min(4) {
            let (mut relic, count): (Sleep, Arc<Count>) = relics.remove(round % relics.len());
            do_to_a_relic(&mut relic, round);
            assert_eq!(count.wakes(), 1);
        }
        assert_eq!(wheel.pending(), 5, "a relic cancelled a stranger's timer");
        runtime.block_on(async { sleep(us(300)).await });
        assert!(held.iter().all(|(_, count)| count.wakes() == 0));
        assert!(held.iter().all(|(sleep, _)| !sleep.is_elapsed()));
        drop(runtime);
        assert!(held.iter().all(|(_, count)| count.wakes() == 1));
        relics.extend(held);
    }
    for (mut relic, count) in relics {
        is_shut_down(&mut relic);
        assert_eq!(count.wakes(), 1);
    }
}

#[test]
fn runtimes_that_start_and_end_on_many_threads_keep_their_timers_apart() {
    within(LIMIT, || {
        thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || start_and_end_runtimes(thread));
            }
        });
    });
}
