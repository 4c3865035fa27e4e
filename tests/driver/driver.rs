//! One driver per runtime: every kind of runtime, inside one another, one after
//! another, with workers that block.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Waker;
use std::thread;
use std::time::Duration;

use futures::future::join_all;
use support::{
    Count, HOUR, counting, current_thread, eventually, ms, multi_thread, poll, poll_quietly,
    runtimes, secs, within,
};
use tokio::runtime::{Builder, Handle};
use tokio::task::{LocalSet, block_in_place, spawn_blocking};
use wheel::{Instant, Wheel, sleep, sleep_until, timeout};

/// More than any machine takes for a timer of some milliseconds.
const LIMIT: Duration = Duration::from_secs(60);

async fn sleeps_once() {
    let start = Instant::now();
    sleep(ms(5)).await;
    assert!(start.elapsed() >= ms(5));
}

#[test]
fn timers_work_in_block_on_and_in_tasks_of_every_runtime() {
    within(LIMIT, || {
        for (_, runtime) in runtimes() {
            runtime.block_on(sleeps_once());
            let tasks: Vec<_> = (0..100).map(|_| runtime.spawn(sleeps_once())).collect();
            for done in runtime.block_on(join_all(tasks)) {
                done.unwrap();
            }
        }
    });
}

#[test]
fn timers_work_in_a_local_set() {
    within(LIMIT, || {
        for (_, runtime) in runtimes() {
            let local = LocalSet::new();
            local.block_on(&runtime, async {
                sleeps_once().await;
                tokio::task::spawn_local(async {
                    timeout(secs(30), sleeps_once()).await.unwrap();
                })
                .await
                .unwrap();
            });
            local.spawn_local(sleeps_once());
            runtime.block_on(local);
        }
    });
}

#[test]
fn timers_work_in_a_blocking_section() {
    within(LIMIT, || {
        multi_thread(2).block_on(async {
            tokio::spawn(async {
                sleeps_once().await;
                block_in_place(|| Handle::current().block_on(sleeps_once()));
                sleeps_once().await;
            })
            .await
            .unwrap();
            block_in_place(|| Handle::current().block_on(sleeps_once()));
        });
    });
}

#[test]
fn timers_work_on_blocking_threads() {
    within(LIMIT, || {
        for (_, runtime) in runtimes() {
            runtime.block_on(async {
                spawn_blocking(|| {
                    Handle::current().block_on(sleeps_once());
                    futures::executor::block_on(sleeps_once());
                })
                .await
                .unwrap();
            });
        }
    });
}

#[test]
fn timers_work_under_a_foreign_executor() {
    within(LIMIT, || {
        let runtime = multi_thread(1);
        let _guard = runtime.enter();
        futures::executor::block_on(async {
            sleeps_once().await;
            join_all((0..100).map(|_| sleeps_once())).await;
        });
    });
}

#[test]
fn a_sleep_made_in_a_runtime_can_be_awaited_outside_any() {
    within(LIMIT, || {
        let runtime = multi_thread(1);
        let sleep = {
            let _guard = runtime.enter();
            sleep(ms(5))
        };
        let deadline = sleep.deadline();
        futures::executor::block_on(sleep);
        assert!(Instant::now() >= deadline);
    });
}

#[test]
fn a_timer_armed_on_a_foreign_thread_wakes_a_driver_that_sleeps_long() {
    within(LIMIT, || {
        let runtime = multi_thread(2);
        let mut long = {
            let _guard = runtime.enter();
            sleep(HOUR)
        };
        assert!(poll_quietly(&mut long).is_pending());
        // Parked until the hour is over.
        thread::sleep(ms(50));
        let _guard = runtime.enter();
        futures::executor::block_on(sleeps_once());
    });
}

#[test]
fn a_timer_polled_where_there_is_no_runtime_fires() {
    within(LIMIT, || {
        let runtime = current_thread();
        let mut timers: Vec<_> = {
            let _guard = runtime.enter();
            (0..10).map(|n| sleep(ms(n))).collect()
        };
        let (waker, count) = counting();
        let mut pending = 0;
        for sleep in &mut timers {
            pending += usize::from(poll(sleep, &waker).is_pending());
        }
        runtime.block_on(async { sleep(ms(20)).await });
        assert_eq!(count.wakes(), pending);
        runtime.block_on(join_all(timers));
    });
}

#[test]
fn arming_on_a_foreign_thread_fires_nobodys_timer() {
    within(LIMIT, || {
        let runtime = current_thread();
        let (waker, count) = counting();
        let (mut stranger, mut late) = {
            let _guard = runtime.enter();
            (sleep(ms(300)), sleep(ms(5)))
        };
        assert!(poll(&mut stranger, &waker).is_pending());
        // tokio has passed 5 ms, and is not driven when the 300 are over.
        runtime.block_on(async { tokio::time::sleep(ms(15)).await });
        thread::sleep(ms(400));
        let before = count.wakes();
        let late = thread::spawn(move || {
            // Due by tokio's reckoning: setting the alarm for it rings at once.
            let _ = poll_quietly(&mut late);
            late
        });
        let late = late.join().unwrap();
        assert_eq!(count.wakes(), before, "fired by a foreign thread");
        runtime.block_on(async {
            late.await;
            stranger.await;
        });
    });
}

#[test]
fn several_runtimes_at_once() {
    within(LIMIT, || {
        let threads: Vec<_> = (0..8)
            .map(|n| {
                thread::spawn(move || {
                    let runtime = if n % 2 == 0 {
                        current_thread()
                    } else {
                        multi_thread(2)
                    };
                    runtime.block_on(async {
                        let wheel = Wheel::current();
                        let tasks = (0..50).map(|_| tokio::spawn(sleeps_once()));
                        for done in join_all(tasks.collect::<Vec<_>>()).await {
                            done.unwrap();
                        }
                        assert_eq!(wheel.pending(), 0);
                    });
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

#[test]
fn thousands_of_runtimes_one_after_another_on_one_thread() {
    within(secs(120), || {
        for n in 0..3000 {
            let runtime = Builder::new_current_thread().enable_time().build().unwrap();
            runtime.block_on(async {
                let (waker, count) = counting();
                let mut long = sleep(HOUR);
                assert!(poll(&mut long, &waker).is_pending());
                if n % 50 == 0 {
                    sleep(ms(1)).await;
                } else {
                    sleep(Duration::ZERO).await;
                }
                assert_eq!(count.wakes(), 0);
                assert_eq!(Wheel::current().pending(), 1);
            });
        }
    });
}

#[test]
fn two_runtimes_taking_turns_on_one_thread_keep_their_timers_apart() {
    within(LIMIT, || {
        let (a, b) = (current_thread(), current_thread());
        let pending = |runtime: &tokio::runtime::Runtime| {
            let _guard = runtime.enter();
            Wheel::current().pending()
        };
        let mut held = Vec::new();
        for n in 1..20 {
            for runtime in [&a, &b] {
                runtime.block_on(async {
                    let mut long = sleep(HOUR);
                    assert!(poll_quietly(&mut long).is_pending());
                    held.push(long);
                    sleep(ms(1)).await;
                });
            }
            assert_eq!((pending(&a), pending(&b)), (n, n));
        }
    });
}

#[test]
fn a_runtime_inside_a_blocking_section_of_another() {
    within(LIMIT, || {
        multi_thread(2).block_on(async {
            tokio::spawn(async {
                sleeps_once().await;
                block_in_place(|| {
                    for (_, inner) in runtimes() {
                        inner.block_on(sleeps_once());
                        inner.block_on(async { tokio::spawn(sleeps_once()).await.unwrap() });
                    }
                });
                sleeps_once().await;
            })
            .await
            .unwrap();
        });
    });
}

/// Runs `inside` in runtimes of its own, within a blocking task of a runtime whose timers have
/// been used. (Within a blocking section, a current-thread runtime counts as the worker that it
/// is nested on: see `contexts.rs`.)
fn nested(inside: impl Fn() + Clone + Send + 'static) {
    within(secs(20), || {
        multi_thread(2).block_on(async move {
            tokio::spawn(sleeps_once()).await.unwrap();
            spawn_blocking(move || {
                Handle::current().block_on(sleep(ms(1)));
                inside();
                Handle::current().block_on(sleep(ms(1)));
            })
            .await
            .unwrap();
        });
    });
}

#[cfg(feature = "test-util")]
mod paused_inside {
    use std::sync::mpsc;

    use super::*;
    use support::paused;
    use wheel::interval;

    #[test]
    fn a_sleep_passes_at_once() {
        nested(|| {
            paused().block_on(async {
                let start = Instant::now();
                sleep(HOUR).await;
                assert_eq!(start.elapsed(), HOUR);
            });
        });
    }

    #[test]
    fn a_timeout_and_an_interval_pass_at_once() {
        nested(|| {
            paused().block_on(async {
                let start = Instant::now();
                assert!(timeout(HOUR, std::future::pending::<()>()).await.is_err());
                assert_eq!(start.elapsed(), HOUR);
                let mut hourly = interval(HOUR);
                for _ in 0..5 {
                    hourly.tick().await;
                }
                assert_eq!(start.elapsed(), 5 * HOUR);
            });
        });
    }

    #[test]
    fn a_sleep_that_is_reset_before_it_is_polled_passes_at_once() {
        nested(|| {
            paused().block_on(async {
                let start = Instant::now();
                let mut sleep = sleep(HOUR);
                sleep.reset_unpin(start + 2 * HOUR);
                sleep.await;
                assert_eq!(start.elapsed(), 2 * HOUR);
            });
        });
    }

    #[test]
    fn an_interval_that_is_reset_before_it_is_polled_passes_at_once() {
        nested(|| {
            paused().block_on(async {
                let start = Instant::now();
                let mut hourly = interval(HOUR);
                hourly.reset();
                hourly.tick().await;
                assert_eq!(start.elapsed(), HOUR);
            });
        });
    }

    #[test]
    fn a_sleep_within_a_combinator_passes_at_once() {
        nested(|| {
            paused().block_on(async {
                let start = Instant::now();
                join_all((1..=100).map(|_| sleep(HOUR))).await;
                tokio::spawn(sleep(HOUR)).await.unwrap();
                tokio::join!(sleep(HOUR), sleep(2 * HOUR));
                assert_eq!(start.elapsed(), 4 * HOUR);
            });
        });
    }

    #[test]
    fn a_paused_runtime_beside_a_running_one() {
        within(LIMIT, || {
            let (go, wait) = mpsc::channel();
            let running = thread::spawn(move || {
                current_thread().block_on(async {
                    let start = std::time::Instant::now();
                    sleep(ms(50)).await;
                    assert!(start.elapsed() >= ms(50), "virtual time has leaked");
                    go.send(()).unwrap();
                });
            });
            paused().block_on(async {
                let start = Instant::now();
                for _ in 0..100 {
                    sleep(HOUR).await;
                }
                assert_eq!(start.elapsed(), 100 * HOUR);
            });
            wait.recv().unwrap();
            running.join().unwrap();
        });
    }

    #[test]
    fn a_timer_of_one_runtime_polled_and_reset_in_another_keeps_its_own_clock() {
        within(LIMIT, || {
            let past = paused();
            thread::sleep(ms(1));
            let here = paused();
            let _guard = past.enter();
            let mut sleep = sleep(ms(1));
            assert!(poll_quietly(&mut sleep).is_pending());
            let deadline = sleep.deadline();
            here.block_on(async { sleep.reset_unpin(deadline + ms(1)) });
            let start = Instant::now();
            past.block_on(&mut sleep);
            assert_eq!(start.elapsed(), ms(2));
        });
    }

    #[test]
    fn a_timer_made_in_a_task_of_one_runtime_and_first_polled_in_another_belongs_to_the_first() {
        within(secs(20), || {
            let (here, ahead) = (paused(), paused());
            ahead.block_on(wheel::advance(10 * HOUR));
            let (mut made, start) = here.block_on(async {
                let task = tokio::spawn(async {
                    sleep(ms(1)).await;
                    (sleep(HOUR), Instant::now())
                });
                task.await.unwrap()
            });
            ahead.block_on(async {
                tokio::spawn(sleep(ms(1))).await.unwrap();
                assert!(poll(&mut made, &counting().0).is_pending());
            });
            here.block_on(async {
                assert_eq!(Wheel::current().pending(), 1);
                made.await;
                assert_eq!(start.elapsed(), HOUR);
            });
        });
    }

    #[test]
    fn a_timer_that_is_past_by_a_foreign_clock_is_not_fired_by_it() {
        within(LIMIT, || {
            let (here, ahead) = (paused(), paused());
            ahead.block_on(wheel::advance(10 * HOUR));
            let mut fired = {
                let _guard = here.enter();
                sleep(HOUR)
            };
            let start = {
                let _guard = here.enter();
                Instant::now()
            };
            // First polled, re-polled and reset where ten hours have passed.
            ahead.block_on(async {
                let (waker, count) = counting();
                assert!(poll(&mut fired, &waker).is_pending());
                assert!(!fired.is_elapsed());
                sleep(HOUR).await;
                assert!(poll(&mut fired, &waker).is_pending());
                fired.reset_unpin(start + 2 * HOUR);
                sleep(HOUR).await;
                assert!(poll(&mut fired, &waker).is_pending());
                assert_eq!(count.wakes(), 0);
            });
            here.block_on(async {
                fired.await;
                assert_eq!(start.elapsed(), 2 * HOUR);
            });
        });
    }

    #[test]
    fn a_timer_that_is_due_by_its_own_clock_fires_though_armed_from_one_behind() {
        within(LIMIT, || {
            let (here, behind) = (paused(), paused());
            here.block_on(wheel::advance(10 * HOUR));
            let mut due = {
                let _guard = here.enter();
                let deadline = Instant::now() - HOUR;
                sleep_until(deadline)
            };
            let (waker, count) = counting();
            let polled = behind.block_on(async { poll(&mut due, &waker) });
            here.block_on(async {
                let start = Instant::now();
                if polled.is_pending() {
                    sleep(ms(1)).await;
                    assert_eq!(count.wakes(), 1);
                }
                due.await;
                assert!(start.elapsed() <= ms(1));
            });
        });
    }
}

#[test]
fn in_a_nested_runtime_timers_belong_to_it() {
    nested(|| {
        for (name, inner) in runtimes() {
            inner.block_on(async {
                let wheel = Wheel::current();
                let mut held: Vec<_> = (0..3).map(|_| sleep(HOUR)).collect();
                // By the task's own waker: that is what `await` uses.
                poll_fn(|cx| {
                    for sleep in &mut held {
                        assert!(std::pin::Pin::new(sleep).poll(cx).is_pending());
                    }
                    std::task::Poll::Ready(())
                })
                .await;
                assert_eq!(wheel.pending(), 3, "in {name}");
            });
        }
    });
}

#[test]
fn in_a_nested_runtime_timers_that_are_reset_before_they_are_polled_belong_to_it() {
    nested(|| {
        for (name, inner) in runtimes() {
            inner.block_on(async {
                let mut held = sleep(HOUR);
                held.reset_unpin(Instant::now() + 2 * HOUR);
                assert_eq!(Wheel::current().pending(), 1, "in {name}");
            });
        }
    });
}

#[test]
#[expect(clippy::async_yields_async, reason = "made here, awaited elsewhere")]
fn two_runtimes_entered_in_turn_by_one_blocking_task_keep_their_timers_apart() {
    // `block_on` of a multi-thread runtime has the same waker on the same
    // thread whichever runtime it is, and the task id is that of the closure.
    within(LIMIT, || {
        let outer = multi_thread(1);
        outer.block_on(async {
            spawn_blocking(|| {
                let (b, c) = (multi_thread(1), multi_thread(1));
                for _ in 0..3 {
                    b.block_on(sleeps_once());
                }
                let mut held = c.block_on(async {
                    let mut held = sleep(ms(30));
                    let first = poll_fn(|cx| {
                        std::task::Poll::Ready(std::pin::Pin::new(&mut held).poll(cx))
                    });
                    assert!(first.await.is_pending());
                    held
                });
                // The end of one is no affair of the other's timers.
                b.shutdown_timeout(secs(5));
                c.block_on(&mut held);
                c.block_on(sleeps_once());
            })
            .await
            .unwrap();
        });
    });
}

#[test]
fn a_burst_longer_than_a_turn_fires_completely_on_every_runtime() {
    within(LIMIT, || {
        for (_, runtime) in runtimes() {
            runtime.block_on(async {
                let deadline = Instant::now() + ms(20);
                let (waker, count) = counting();
                let mut burst: Vec<_> = (0..20_000).map(|_| sleep_until(deadline)).collect();
                let mut pending = 0;
                for sleep in &mut burst {
                    pending += usize::from(poll(sleep, &waker).is_pending());
                }
                while count.wakes() < pending {
                    sleep(ms(1)).await;
                }
                assert_eq!(count.wakes(), pending);
                assert!(burst.iter_mut().all(|sleep| poll_quietly(sleep).is_ready()));
            });
        }
    });
}

#[test]
fn a_task_that_never_yields_to_the_driver_still_sees_its_timer() {
    within(LIMIT, || {
        for (_, runtime) in runtimes() {
            runtime.block_on(async {
                let start = Instant::now();
                let mut sleep = sleep(ms(10));
                poll_fn(|cx| {
                    let polled = std::pin::Pin::new(&mut sleep).poll(cx);
                    if polled.is_pending() {
                        cx.waker().wake_by_ref();
                    }
                    polled
                })
                .await;
                assert!(start.elapsed() >= ms(10));
            });
        }
    });
}

#[test]
fn the_driver_is_one_task() {
    within(LIMIT, || {
        for (name, runtime) in runtimes() {
            let metrics = runtime.metrics();
            let before = metrics.num_alive_tasks();
            runtime.block_on(async {
                let mut held: Vec<_> = (1..100).map(|_| sleep(HOUR)).collect();
                for sleep in &mut held {
                    assert!(poll_quietly(sleep).is_pending());
                }
                sleep(ms(1)).await;
                assert_eq!(
                    Handle::current().metrics().num_alive_tasks(),
                    before + 1,
                    "{name}"
                );
            });
            assert_eq!(metrics.num_alive_tasks(), before + 1, "{name}");
        }
    });
}

#[test]
fn a_runtime_without_wheel_timers_has_no_driver() {
    let runtime = multi_thread(1);
    runtime.block_on(async { tokio::time::sleep(ms(1)).await });
    assert_eq!(runtime.metrics().num_alive_tasks(), 0);
}

#[test]
fn tokios_own_timers_are_untouched() {
    within(LIMIT, || {
        for (_, runtime) in runtimes() {
            runtime.block_on(async {
                let start = Instant::now();
                tokio::join!(tokio::time::sleep(ms(10)), sleep(ms(10)));
                assert!(start.elapsed() >= ms(10));
                let mixed = timeout(secs(20), tokio::time::sleep(ms(5)));
                mixed.await.unwrap();
                let mixed = tokio::time::timeout(secs(20), sleep(ms(5)));
                mixed.await.unwrap();
            });
        }
    });
}

#[test]
fn an_explicit_wheel_is_exact_everywhere() {
    within(LIMIT, || {
        let runtime = multi_thread(2);
        let wheel = {
            let _guard = runtime.enter();
            Wheel::current()
        };
        // Outside of any runtime.
        let (waker, count) = counting();
        let mut sleep = wheel.sleep(HOUR);
        assert!(poll(&mut sleep, &waker).is_pending());
        assert_eq!(wheel.pending(), 1);
        sleep.reset_unpin(Instant::now() + ms(5));
        eventually("woken", || count.wakes() == 1);
        futures::executor::block_on(async {
            wheel.sleep(ms(1)).await;
            wheel.sleep_until(Instant::now() + ms(1)).await;
            assert!(
                wheel
                    .timeout(ms(1), std::future::pending::<()>())
                    .await
                    .is_err()
            );
            let soon = Instant::now() + ms(1);
            assert!(
                wheel
                    .timeout_at(soon, std::future::pending::<()>())
                    .await
                    .is_err()
            );
            wheel.interval(ms(1)).tick().await;
            assert_eq!(wheel.interval_at(soon, ms(1)).tick().await, soon);
        });
        // Inside another one.
        current_thread().block_on(async {
            let mut sleep = wheel.sleep(HOUR);
            assert!(poll_quietly(&mut sleep).is_pending());
            assert_eq!(wheel.pending(), 1);
            wheel.sleep(ms(1)).await;
        });
        eventually("cancelled", || wheel.pending() == 0);
    });
}

/// A task of one runtime often lies where one of the other has lain, and is polled
/// with a waker that looks the same.
#[test]
fn two_runtimes_whose_tasks_take_turns_on_one_thread_keep_their_timers_apart() {
    within(LIMIT, || {
        let runtimes = [current_thread(), current_thread()];
        for turn in 0..100 {
            let runtime = &runtimes[turn % 2];
            let task = runtime.spawn(async {
                sleep(Duration::from_micros(1)).await;
                sleep(Duration::from_micros(1)).await;
            });
            runtime.block_on(task).unwrap();
        }
    });
}

#[test]
fn a_sleep_that_is_done_stays_with_its_driver_wherever_it_is_polled() {
    within(LIMIT, || {
        let others = current_thread();
        others.block_on(sleeps_once());
        current_thread().block_on(async {
            sleeps_once().await;
            let usual = Wheel::current();
            let own = Wheel::builder().build().unwrap();
            for (mut done, wheel) in [(own.sleep(ms(1)), &own), (usual.sleep(ms(1)), &usual)] {
                (&mut done).await;
                thread::scope(|scope| {
                    let poll_there = || others.block_on(&mut done);
                    scope.spawn(poll_there).join().unwrap();
                });
                done.reset_unpin(Instant::now() + HOUR);
                assert_eq!(wheel.pending(), 1);
                assert_eq!(own.pending() + usual.pending(), 1);
            }
        });
    });
}

fn counts(wakers: &[(Waker, Arc<Count>); 3]) -> [usize; 3] {
    wakers.each_ref().map(|(_, count)| Arc::strong_count(count))
}

#[tokio::test]
async fn a_sleep_that_is_done_keeps_the_waker_of_its_last_poll_only() {
    let mut done = sleep(ms(1));
    (&mut done).await;
    let wakers = [(); 3].map(|()| counting());
    let before = counts(&wakers);
    for (waker, _) in &wakers {
        assert!(poll(&mut done, waker).is_ready());
    }
    let [first, second, last] = before;
    assert_eq!(counts(&wakers), [first, second, last + 1]);
    drop(done);
    assert_eq!(counts(&wakers), before);
}
