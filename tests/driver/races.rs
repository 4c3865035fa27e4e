//! Real threads: firing races with dropping, resetting, arming and polling.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::task::{Wake, Waker};
use std::thread;
use std::time::Duration;

use support::{Random, eventually, ms, multi_thread, poll, poll_quietly, secs, within};
use tokio::runtime::Runtime;
use wheel::{Instant, Sleep, Wheel, sleep, sleep_until};

const LIMIT: Duration = Duration::from_secs(120);

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

fn wheel_of(runtime: &Runtime) -> Wheel {
    let _guard = runtime.enter();
    Wheel::current()
}

/// A pending timer and its witness; none if this machine was too slow to arm it.
fn armed(wheel: &Wheel, duration: Duration) -> Option<(Sleep, Arc<Witness>)> {
    let mut sleep = wheel.sleep(duration);
    let witness = Witness::new(sleep.deadline());
    let polled = poll(&mut sleep, &Waker::from(witness.clone()));
    polled.is_pending().then_some((sleep, witness))
}

fn spin_until(time: std::time::Instant) {
    while std::time::Instant::now() < time {
        std::hint::spin_loop();
    }
}

#[test]
fn dropping_races_with_firing() {
    within(LIMIT, || {
        let runtime = multi_thread(2);
        let wheel = wheel_of(&runtime);
        let (send, receive) = mpsc::channel::<(Sleep, Arc<Witness>)>();
        let dropper = thread::spawn(move || {
            let mut witnesses = Vec::new();
            for (sleep, witness) in receive {
                // About when it is due, and sometimes exactly then.
                let jitter = Duration::from_micros(witnesses.len() as u64 % 7 * 300);
                spin_until((sleep.deadline() + jitter).into_std() - Duration::from_micros(900));
                drop(sleep);
                witnesses.push(witness);
            }
            witnesses
        });
        let mut random = Random::new(11);
        let mut kept = Vec::new();
        for _ in 0..2000 {
            let duration = Duration::from_micros(500 + random.below(2000));
            if let Some(pair) = armed(&wheel, duration) {
                send.send(pair).unwrap();
            }
            kept.extend(armed(&wheel, duration));
        }
        drop(send);
        let dropped = dropper.join().unwrap();
        for (mut sleep, witness) in kept {
            eventually("fired", || witness.wakes() > 0);
            assert_eq!(witness.wakes(), 1);
            assert!(poll_quietly(&mut sleep).is_ready());
        }
        for witness in dropped {
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
            let Some((mut sleep, _)) = armed(&wheel, Duration::from_micros(1500)) else {
                continue;
            };
            spin_until(sleep.deadline().into_std() - Duration::from_micros(random.below(1200)));
            let deadline = match round % 3 {
                0 => Instant::now() + ms(1),
                1 => Instant::now() + ms(20),
                _ => sleep.deadline() + Duration::from_micros(100),
            };
            sleep.reset_unpin(deadline);
            // By now it may have fired, or be elapsed; polled, it is never early.
            let witness = Witness::new(deadline);
            let polled = poll(&mut sleep, &Waker::from(witness.clone()));
            if polled.is_ready() {
                assert!(Instant::now() >= deadline, "early");
            } else {
                eventually("fired after the reset", || witness.wakes() == 1);
                assert!(poll_quietly(&mut sleep).is_ready());
            }
        }
        eventually("nothing is left", || wheel.pending() == 0);
    });
}

#[test]
fn polling_with_new_wakers_races_with_firing() {
    within(LIMIT, || {
        let runtime = multi_thread(2);
        let wheel = wheel_of(&runtime);
        for _ in 0..600 {
            let mut sleep = wheel.sleep(Duration::from_micros(1200));
            let mut last;
            loop {
                last = Witness::new(sleep.deadline());
                if poll(&mut sleep, &Waker::from(last.clone())).is_ready() {
                    assert!(Instant::now() >= sleep.deadline(), "early");
                    break;
                }
                if Instant::now() + Duration::from_micros(100) > sleep.deadline() {
                    let last = &last;
                    eventually("the last waker is woken", || last.wakes() == 1);
                    assert!(poll_quietly(&mut sleep).is_ready());
                    break;
                }
            }
            // A sleep that is done keeps its waker for a reset.
            drop(sleep);
            eventually("the waker is freed", || Arc::strong_count(&last) == 1);
        }
        eventually("nothing is left", || wheel.pending() == 0);
    });
}

/// Arms, cancels and resets from several threads while a crowd fires.
fn storm(runtime: &Runtime, wheel: &Wheel, crowd: usize, threads: usize, enter: bool) {
    let stop = Arc::new(AtomicBool::new(false));
    let start = Arc::new(Barrier::new(threads + 1));
    let workers: Vec<_> = (0..threads)
        .map(|n| {
            let (stop, start) = (stop.clone(), start.clone());
            let (wheel, handle) = (wheel.clone(), runtime.handle().clone());
            thread::spawn(move || {
                let _guard = enter.then(|| handle.enter());
                let mut random = Random::new(n as u64 + 77);
                let mut kept = Vec::new();
                let mut ring: Vec<Option<(Sleep, Arc<Witness>)>> = (0..64).map(|_| None).collect();
                start.wait();
                while !stop.load(Ordering::Relaxed) {
                    let at = random.below(64) as usize;
                    match random.below(8) {
                        0..4 => {
                            ring[at] = armed(&wheel, Duration::from_micros(random.below(20_000)))
                        }
                        4 => ring[at] = None,
                        5 => {
                            if let Some((mut sleep, _)) = ring[at].take() {
                                let deadline =
                                    Instant::now() + Duration::from_micros(random.below(9000));
                                sleep.reset_unpin(deadline);
                                let witness = Witness::new(deadline);
                                let waker = Waker::from(witness.clone());
                                if poll(&mut sleep, &waker).is_pending() {
                                    kept.push((sleep, witness));
                                } else {
                                    assert!(Instant::now() >= deadline, "early");
                                }
                            }
                        }
                        6 => drop(armed(&wheel, secs(3600))),
                        _ => kept.extend(ring[at].take()),
                    }
                    if kept.len() > 20_000 {
                        kept.retain(|(_, witness)| witness.wakes() == 0);
                    }
                }
                drop(ring);
                kept
            })
        })
        .collect();

    let mut sleeps = Vec::with_capacity(crowd);
    let base = Instant::now() + ms(300);
    let mut random = Random::new(1);
    for _ in 0..crowd {
        let deadline = base + Duration::from_micros(random.below(300_000));
        let mut sleep = wheel.sleep_until(deadline);
        let witness = Witness::new(deadline);
        if poll(&mut sleep, &Waker::from(witness.clone())).is_pending() {
            sleeps.push((sleep, witness));
        }
    }
    start.wait();
    eventually("the crowd has fired", || {
        sleeps.last().is_none_or(|(_, witness)| witness.wakes() > 0)
            && Instant::now() > base + ms(300)
    });
    thread::sleep(ms(100));
    stop.store(true, Ordering::Relaxed);
    for worker in workers {
        for (_, witness) in worker.join().unwrap() {
            eventually("fired", || witness.wakes() > 0);
            assert_eq!(witness.wakes(), 1);
        }
    }
    for (mut sleep, witness) in sleeps {
        eventually("fired", || witness.wakes() > 0);
        assert_eq!(witness.wakes(), 1, "exactly once");
        assert!(poll_quietly(&mut sleep).is_ready());
    }
    eventually("nothing is left", || wheel.pending() == 0);
    runtime.block_on(async { sleep(ms(1)).await });
}

#[test]
fn threads_arm_and_cancel_while_half_a_million_fire() {
    within(LIMIT, || {
        let runtime = multi_thread(2);
        let wheel = wheel_of(&runtime);
        storm(&runtime, &wheel, 500_000, 2, true);
    });
}

#[test]
fn threads_outside_the_runtime_arm_and_cancel_while_others_fire() {
    within(LIMIT, || {
        let runtime = multi_thread(2);
        let wheel = wheel_of(&runtime);
        storm(&runtime, &wheel, 50_000, 3, false);
    });
}

#[test]
fn one_shard_for_everybody() {
    within(LIMIT, || {
        let runtime = multi_thread(2);
        let wheel = {
            let _guard = runtime.enter();
            wheel::Builder::new()
                .shards(1)
                .entries_per_hold(1)
                .build()
                .unwrap()
        };
        storm(&runtime, &wheel, 50_000, 4, true);
    });
}

#[test]
fn many_shards_and_long_holds() {
    within(LIMIT, || {
        let runtime = multi_thread(2);
        let wheel = {
            let _guard = runtime.enter();
            wheel::Builder::new()
                .shards(64)
                .entries_per_hold(4096)
                .build()
                .unwrap()
        };
        storm(&runtime, &wheel, 50_000, 2, true);
    });
}

#[test]
fn an_earlier_timer_is_never_missed_by_a_driver_about_to_sleep() {
    // Arms ever earlier deadlines from two threads, just as the alarm is moved.
    within(LIMIT, || {
        let runtime = multi_thread(2);
        let wheel = wheel_of(&runtime);
        let threads: Vec<_> = (0..2)
            .map(|n| {
                let (wheel, handle) = (wheel.clone(), runtime.handle().clone());
                thread::spawn(move || {
                    let _guard = handle.enter();
                    let mut random = Random::new(n + 40);
                    for _ in 0..400 {
                        // A long one first, so that the plan is far away; then short ones.
                        let long = armed(&wheel, secs(3600));
                        let short: Vec<_> = (0..3)
                            .filter_map(|_| {
                                armed(&wheel, Duration::from_micros(100 + random.below(1500)))
                            })
                            .collect();
                        for (_, witness) in &short {
                            let since = std::time::Instant::now();
                            while witness.wakes() == 0 {
                                assert!(since.elapsed() < secs(10), "missed");
                                thread::yield_now();
                            }
                        }
                        drop(long);
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        eventually("nothing is left", || wheel.pending() == 0);
    });
}

#[test]
fn tasks_on_all_workers_arm_and_cancel() {
    within(LIMIT, || {
        let runtime = multi_thread(4);
        runtime.block_on(async {
            let tasks: Vec<_> = (0..200)
                .map(|n| {
                    tokio::spawn(async move {
                        for m in 0..50 {
                            let deadline = Instant::now() + Duration::from_micros(n * m % 3000);
                            let _ = wheel::timeout(ms((n + m) % 3), sleep_until(deadline)).await;
                            let start = Instant::now();
                            if m % 10 == 0 {
                                sleep(ms(1)).await;
                                assert!(start.elapsed() >= ms(1));
                            }
                        }
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
        });
        let wheel = wheel_of(&runtime);
        eventually("nothing is left", || wheel.pending() == 0);
    });
}

#[test]
fn runtimes_that_start_and_end_on_many_threads_keep_their_timers_apart() {
    // Drivers are used again: by another thread's runtime as soon as one has ended.
    within(LIMIT, || {
        let threads: Vec<_> = (0..4)
            .map(|n| {
                thread::spawn(move || {
                    let mut relics = Vec::new();
                    for round in 0..150 {
                        let runtime = if (n + round) % 8 == 0 {
                            multi_thread(1)
                        } else {
                            support::current_thread()
                        };
                        let wheel = wheel_of(&runtime);
                        let held: Vec<_> =
                            (0..5).filter_map(|_| armed(&wheel, secs(3600))).collect();
                        relics.truncate(20);
                        assert_eq!(wheel.pending(), 5);
                        runtime.block_on(async { sleep(Duration::from_micros(300)).await });
                        assert!(
                            held.iter()
                                .all(|(_, witness)| witness.wakes.load(Ordering::SeqCst) == 0)
                        );
                        drop(runtime);
                        assert!(
                            held.iter()
                                .all(|(_, witness)| witness.wakes.load(Ordering::SeqCst) == 1)
                        );
                        relics.splice(0..0, held);
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
}
