//! The end of a runtime, and what is held beyond it.

use std::cell::RefCell;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use futures::FutureExt as _;
use support::{
    Count, HOUR, OnWake, SHUT_DOWN, counting, current_thread, eventually, in_a_process_of_its_own,
    message_of, ms, multi_thread, panic_of, poll, poll_quietly, resident_kib, runtimes, secs,
    within,
};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use wheel::{Instant, Sleep, Wheel, interval, sleep, sleep_until, timeout};

const LIMIT: Duration = Duration::from_secs(120);

fn small() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}

/// A pending timer made in a runtime, and its waker's count.
fn pending_in(runtime: &Runtime, duration: Duration) -> (Sleep, Arc<Count>) {
    let _guard = runtime.enter();
    let (waker, count) = counting();
    let mut sleep = sleep(duration);
    assert!(poll(&mut sleep, &waker).is_pending());
    (sleep, count)
}

#[test]
fn pending_timers_are_woken_and_then_panic_when_polled() {
    within(LIMIT, || {
        for (name, runtime) in runtimes() {
            let (mut sleep, count) = pending_in(&runtime, HOUR);
            assert_eq!(count.wakes(), 0);
            drop(runtime);
            assert_eq!(count.wakes(), 1, "{name}");
            assert_eq!(
                Arc::strong_count(&count),
                1,
                "{name}: the waker is still held"
            );
            for _ in 0..2 {
                assert_eq!(message_of(|| poll_quietly(&mut sleep)), SHUT_DOWN, "{name}");
            }
        }
    });
}

#[test]
fn the_panic_is_tokios() {
    within(LIMIT, || {
        let runtime = small();
        let mut theirs = {
            let _guard = runtime.enter();
            Box::pin(tokio::time::sleep(HOUR))
        };
        assert!(poll_quietly(&mut theirs).is_pending());
        drop(runtime);
        assert_eq!(message_of(|| poll_quietly(&mut theirs)), SHUT_DOWN);
    });
}

#[test]
#[expect(clippy::async_yields_async, reason = "made here, awaited elsewhere")]
fn every_state_of_a_timer_survives_its_runtime() {
    within(LIMIT, || {
        for (_, runtime) in runtimes() {
            let (pending, _) = pending_in(&runtime, HOUR);
            let (fired, _) = pending_in(&runtime, ms(1));
            let (new, assumed, ready, reset, mut timeout, mut interval, wheel) = {
                let _guard = runtime.enter();
                let assumed = runtime.spawn(async { sleep(HOUR) });
                let mut ready = sleep(ms(1));
                runtime.block_on(&mut ready);
                let mut reset = sleep(HOUR);
                reset.reset_unpin(Instant::now() + 2 * HOUR);
                let timeout = timeout(HOUR, std::future::pending::<()>());
                let assumed =
                    futures::executor::block_on(async { runtime.block_on(assumed).unwrap() });
                (
                    sleep(HOUR),
                    assumed,
                    ready,
                    reset,
                    timeout,
                    interval(HOUR),
                    Wheel::current(),
                )
            };
            assert!(poll_quietly(&mut timeout).is_pending());
            runtime.block_on(interval.tick());
            drop(runtime);

            assert_eq!(wheel.pending(), 0);
            let far = Instant::now() + HOUR;
            for mut sleep in [pending, fired, new, assumed, ready, reset] {
                assert_eq!(message_of(|| poll_quietly(&mut sleep)), SHUT_DOWN);
                let _ = sleep.is_elapsed();
                for deadline in [Instant::now(), far, Instant::now() - ms(1)] {
                    sleep.reset_unpin(deadline);
                    assert_eq!(sleep.deadline(), deadline);
                    assert_eq!(message_of(|| poll_quietly(&mut sleep)), SHUT_DOWN);
                }
                drop(sleep);
            }
            assert_eq!(message_of(|| poll_quietly(&mut timeout)), SHUT_DOWN);
            assert_eq!(
                message_of(|| poll_quietly(&mut Box::pin(interval.tick()))),
                SHUT_DOWN
            );
            interval.reset();
            interval.reset_immediately();
            interval.reset_after(HOUR);
            interval.reset_at(far);
            assert_eq!(
                message_of(|| poll_quietly(&mut Box::pin(interval.tick()))),
                SHUT_DOWN
            );
            assert_eq!(wheel.pending(), 0);
        }
    });
}

#[test]
fn a_wheel_of_an_ended_runtime_makes_timers_that_panic_when_polled() {
    within(LIMIT, || {
        for (_, runtime) in runtimes() {
            let wheel = {
                let _guard = runtime.enter();
                Wheel::current()
            };
            drop(runtime);
            assert_eq!(wheel.pending(), 0);
            assert!(format!("{wheel:?}").contains("Wheel"));
            for duration in [Duration::ZERO, HOUR] {
                let mut sleep = wheel.sleep(duration);
                assert_eq!(message_of(|| poll_quietly(&mut sleep)), SHUT_DOWN);
                sleep.reset_unpin(Instant::now() + HOUR);
                let mut timeout = wheel.timeout(duration, std::future::pending::<()>());
                assert_eq!(message_of(|| poll_quietly(&mut timeout)), SHUT_DOWN);
                let mut answered = wheel.timeout(duration, std::future::ready(5));
                assert_eq!(poll_quietly(&mut answered), Poll::Ready(Ok(5)));
            }
            let mut sleep = wheel.sleep_until(Instant::now() - ms(1));
            assert_eq!(message_of(|| poll_quietly(&mut sleep)), SHUT_DOWN);
            let _ = wheel.interval(HOUR);
        }
    });
}

#[test]
fn timers_made_on_an_ended_runtime_panic_when_polled() {
    within(LIMIT, || {
        for (_, runtime) in runtimes() {
            let handle = runtime.handle().clone();
            drop(runtime);
            let _guard = handle.enter();
            for _ in 0..3 {
                let mut sleep = sleep(HOUR);
                assert_eq!(message_of(|| poll_quietly(&mut sleep)), SHUT_DOWN);
                let mut due = sleep_until(Instant::now());
                assert_eq!(message_of(|| poll_quietly(&mut due)), SHUT_DOWN);
                sleep.reset_unpin(Instant::now() + HOUR);
                assert_eq!(Wheel::current().pending(), 0);
                assert!(wheel::Builder::new().build().unwrap().pending() == 0);
                handle.spawn(sleep);
            }
        }
    });
}

#[test]
fn a_task_that_sleeps_when_its_runtime_ends_is_dropped_with_its_timer() {
    within(LIMIT, || {
        for (_, runtime) in runtimes() {
            let (tx, mut rx) = oneshot::channel::<()>();
            runtime.block_on(async {
                tokio::spawn(async move {
                    let _tx = tx;
                    let _ = timeout(HOUR, sleep(2 * HOUR)).await;
                });
                sleep(ms(5)).await;
            });
            drop(runtime);
            assert_eq!(rx.try_recv(), Err(oneshot::error::TryRecvError::Closed));
        }
    });
}

#[test]
fn destructors_of_an_ending_runtime_may_use_timers() {
    struct Last {
        held: Option<Sleep>,
        _end: oneshot::Sender<()>,
    }
    impl Drop for Last {
        fn drop(&mut self) {
            let mut again = sleep(ms(1));
            // Ended or not: one or the other, and no deadlock.
            let _ = support::panic_of(|| poll_quietly(&mut again));
            again.reset_unpin(Instant::now() + HOUR);
            drop(self.held.take());
            let _ = Wheel::current().pending();
        }
    }
    within(LIMIT, || {
        for (_, runtime) in runtimes() {
            let mut ends = Vec::new();
            runtime.block_on(async {
                for _ in 0..20 {
                    let (tx, rx) = oneshot::channel();
                    ends.push(rx);
                    tokio::spawn(async move {
                        let mut held = sleep(HOUR);
                        assert!(poll_quietly(&mut held).is_pending());
                        let _last = Last {
                            held: Some(held),
                            _end: tx,
                        };
                        sleep(HOUR).await;
                    });
                }
                sleep(ms(5)).await;
            });
            drop(runtime);
            for mut end in ends {
                assert_eq!(end.try_recv(), Err(oneshot::error::TryRecvError::Closed));
            }
        }
    });
}

#[test]
fn wakers_called_at_the_end_may_use_timers() {
    within(LIMIT, || {
        for (_, runtime) in runtimes() {
            let handle = runtime.handle().clone();
            let own = Arc::new(std::sync::Mutex::new(None::<Sleep>));
            let (late, taken) = (handle.clone(), own.clone());
            let waker = OnWake::waker(move || {
                let _guard = late.enter();
                let mut again = sleep(HOUR);
                let _ = support::panic_of(|| poll_quietly(&mut again));
                again.reset_unpin(Instant::now() + HOUR);
                drop(taken.lock().unwrap().take());
            });
            let mut sleep = {
                let _guard = runtime.enter();
                sleep(HOUR)
            };
            assert!(poll(&mut sleep, &waker).is_pending());
            *own.lock().unwrap() = Some(sleep);
            drop(runtime);
            assert!(own.lock().unwrap().is_none(), "woken");
        }
    });
}

#[test]
fn a_million_pending_when_the_runtime_ends() {
    within(LIMIT, || {
        for runtime in [current_thread(), multi_thread(2)] {
            let count = Count::new();
            let waker = Waker::from(count.clone());
            let mut sleeps: Vec<Sleep> = {
                let _guard = runtime.enter();
                (0..1_000_000).map(|n| sleep(HOUR + ms(n))).collect()
            };
            let mut cx = Context::from_waker(&waker);
            for sleep in &mut sleeps {
                assert!(Future::poll(std::pin::Pin::new(sleep), &mut cx).is_pending());
            }
            drop(waker);
            assert_eq!(Arc::strong_count(&count), 1_000_001);
            drop(runtime);
            assert_eq!(count.wakes(), 1_000_000);
            assert_eq!(Arc::strong_count(&count), 1);
            drop(sleeps);
        }
    });
}

#[test]
fn timers_held_beyond_their_runtime_never_touch_those_of_later_ones() {
    within(LIMIT, || {
        let mut relics = Vec::new();
        for round in 0..200 {
            let runtime = if round % 10 == 9 {
                multi_thread(1)
            } else {
                small()
            };
            let mut mine: Vec<_> = (0..20).map(|_| pending_in(&runtime, HOUR)).collect();
            let wheel = {
                let _guard = runtime.enter();
                Wheel::current()
            };
            assert_eq!(wheel.pending(), 20);
            // Relics of all ages, with the same keys: dropped, polled and reset.
            for _ in 0..10 {
                if relics.is_empty() {
                    break;
                }
                let (mut relic, count): (Sleep, Arc<Count>) = relics.remove(round % relics.len());
                assert_eq!(count.wakes(), 1);
                match round % 4 {
                    0 => {}
                    1 => assert_eq!(message_of(|| poll_quietly(&mut relic)), SHUT_DOWN),
                    2 => relic.reset_unpin(Instant::now() + ms(1)),
                    _ => relic.reset_unpin(Instant::now()),
                }
                drop(relic);
            }
            assert_eq!(wheel.pending(), 20, "a relic cancelled a stranger's timer");
            runtime.block_on(async { sleep(ms(1)).await });
            for (sleep, count) in &mut mine {
                assert_eq!(count.wakes(), 0, "a relic woke a stranger");
                assert!(!sleep.is_elapsed());
                assert!(poll(sleep, &Waker::from(count.clone())).is_pending());
            }
            drop(runtime);
            for (mut sleep, count) in mine {
                assert_eq!(count.wakes(), 1);
                assert_eq!(message_of(|| poll_quietly(&mut sleep)), SHUT_DOWN);
                relics.push((sleep, count));
            }
        }
        for (mut relic, count) in relics {
            assert_eq!(message_of(|| poll_quietly(&mut relic)), SHUT_DOWN);
            assert_eq!(count.wakes(), 1);
        }
    });
}

#[test]
fn a_relic_is_elapsed_neither_by_its_successors_clock_nor_by_its_end() {
    within(LIMIT, || {
        let old = small();
        let (mut relic, count) = pending_in(&old, ms(20));
        drop(old);
        assert_eq!(count.wakes(), 1);
        // The successor in the same shell passes the relic's deadline.
        let new = small();
        new.block_on(async { sleep(ms(40)).await });
        assert_eq!(message_of(|| poll_quietly(&mut relic)), SHUT_DOWN);
        assert_eq!(count.wakes(), 1);
        let (mut mine, mine_count) = pending_in(&new, HOUR);
        drop(relic);
        assert_eq!(mine_count.wakes(), 0);
        assert!(poll_quietly(&mut mine).is_pending());
    });
}

#[test]
fn runtimes_end_in_any_order() {
    within(LIMIT, || {
        let mut runtimes: Vec<_> = (0..10).map(|_| small()).collect();
        let mut sleeps: Vec<_> = runtimes
            .iter()
            .map(|runtime| pending_in(runtime, HOUR))
            .collect();
        for ended in [3, 0, 7, 4] {
            drop(runtimes.remove(ended));
            let (mut sleep, count) = sleeps.remove(ended);
            assert_eq!(count.wakes(), 1);
            assert_eq!(message_of(|| poll_quietly(&mut sleep)), SHUT_DOWN);
            for (runtime, (sleep, count)) in runtimes.iter().zip(&mut sleeps) {
                assert_eq!(count.wakes(), 0);
                let _guard = runtime.enter();
                assert_eq!(Wheel::current().pending(), 1);
                assert!(!sleep.is_elapsed());
            }
            // One more takes the shell of the one that has ended.
            let runtime = small();
            sleeps.push(pending_in(&runtime, HOUR));
            runtimes.push(runtime);
        }
    });
}

#[test]
fn a_runtime_shut_down_in_the_background_wakes_its_timers_too() {
    within(LIMIT, || {
        let runtime = multi_thread(2);
        let (mut sleep, count) = pending_in(&runtime, HOUR);
        runtime.shutdown_background();
        eventually("woken", || count.wakes() == 1);
        assert_eq!(message_of(|| poll_quietly(&mut sleep)), SHUT_DOWN);

        // From inside a task, with a worker that blocks for a while.
        let (outer, runtime) = (multi_thread(1), multi_thread(2));
        let (mut sleep, count) = pending_in(&runtime, HOUR);
        let (blocks, blocked) = std::sync::mpsc::channel();
        runtime.spawn(async move {
            blocks.send(()).unwrap();
            thread::sleep(ms(100));
        });
        blocked.recv().unwrap();
        outer.block_on(async move { runtime.shutdown_background() });
        // The blocked worker may be the one that has the driver task.
        eventually("woken", || count.wakes() == 1);
        assert_eq!(message_of(|| poll_quietly(&mut sleep)), SHUT_DOWN);
    });
}

#[test]
fn threads_that_arm_cancel_and_reset_while_the_runtime_ends_do_not_panic() {
    within(LIMIT, || {
        for round in 0..40 {
            let runtime = if round % 2 == 0 {
                multi_thread(2)
            } else {
                current_thread()
            };
            let (go, gone) = std::sync::mpsc::channel::<()>();
            let threads: Vec<_> = (0..3)
                .map(|_| {
                    let (handle, go) = (runtime.handle().clone(), go.clone());
                    thread::spawn(move || {
                        let _guard = handle.enter();
                        go.send(()).unwrap();
                        for n in 0.. {
                            let mut sleep = sleep(ms(n % 50));
                            let panic = support::panic_of(|| poll_quietly(&mut sleep));
                            // Never panics, ended or not.
                            sleep.reset_unpin(Instant::now() + ms(n % 7));
                            sleep.reset_unpin(Instant::now() - ms(1));
                            sleep.reset_unpin(Instant::now() + HOUR);
                            drop(sleep);
                            if let Some(panic) = panic {
                                assert_eq!(panic.message, SHUT_DOWN);
                                break;
                            }
                        }
                    })
                })
                .collect();
            for _ in &threads {
                gone.recv().unwrap();
            }
            runtime.block_on(async { sleep(ms(2)).await });
            drop(runtime);
            for thread in threads {
                thread.join().unwrap();
            }
            // The shell they all used serves the next runtime.
            let next = if round % 2 == 0 {
                multi_thread(2)
            } else {
                current_thread()
            };
            next.block_on(async { sleep(ms(1)).await });
        }
    });
}

#[test]
fn arming_on_an_ended_runtime_leaves_the_drivers_of_others_whole() {
    within(LIMIT, || {
        let ended = small();
        let handle = ended.handle().clone();
        drop(ended);
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let handle = handle.clone();
                thread::spawn(move || {
                    let _guard = handle.enter();
                    for _ in 0..2000 {
                        // Each starts a driver, or finds the one that another has just started.
                        let mut sleep = sleep(HOUR);
                        let panic = support::panic_of(|| poll_quietly(&mut sleep));
                        assert!(panic.is_none_or(|panic| panic.message == SHUT_DOWN));
                        let mut reset = wheel::sleep(HOUR);
                        reset.reset_unpin(Instant::now() + 2 * HOUR);
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().expect("a reset, or a drop, has panicked");
        }
        // All drivers that served it, in service again.
        let runtimes: Vec<_> = (0..16).map(|_| small()).collect();
        for runtime in &runtimes {
            runtime.block_on(async { sleep(ms(1)).await });
        }
    });
}

#[test]
fn a_timer_dropped_with_its_thread_is_cancelled() {
    thread_local!(static HELD: RefCell<Option<Sleep>> = const { RefCell::new(None) });
    within(LIMIT, || {
        let runtime = multi_thread(1);
        let handle = runtime.handle().clone();
        let count = thread::spawn(move || {
            // Initialised before tokio's own locals, so destroyed after them.
            HELD.with(|_| ());
            let _guard = handle.enter();
            let (waker, count) = counting();
            let mut sleep = sleep(HOUR);
            assert!(poll(&mut sleep, &waker).is_pending());
            HELD.set(Some(sleep));
            count
        })
        .join()
        .unwrap();
        eventually("freed", || Arc::strong_count(&count) == 1);
        assert_eq!(count.wakes(), 0);
    });
}

#[test]
fn block_on_of_an_ended_runtimes_handle_panics_as_tokio() {
    within(LIMIT, || {
        let runtime = multi_thread(1);
        let handle = runtime.handle().clone();
        runtime.block_on(async { sleep(ms(1)).await });
        drop(runtime);
        let ours = message_of(|| handle.block_on(async { sleep(ms(1)).await }));
        let theirs = message_of(|| handle.block_on(async { tokio::time::sleep(ms(1)).await }));
        assert_eq!(ours, theirs);
    });
}

#[cfg(target_os = "linux")]
#[test]
fn ten_thousand_ended_runtimes_leave_nothing_behind() {
    fn descriptors() -> usize {
        std::fs::read_dir("/proc/self/fd").unwrap().count()
    }
    fn one(n: usize) {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let (mut held, count) = pending_in(&runtime, HOUR);
        if n % 100 == 0 {
            runtime.block_on(async { sleep(ms(1)).await });
        }
        if n % 3 == 0 {
            let _guard = runtime.enter();
            let _own = wheel::Builder::new().build().unwrap();
        }
        drop(runtime);
        assert_eq!(count.wakes(), 1);
        if n % 2 == 0 {
            held.reset_unpin(Instant::now() + HOUR);
        }
    }
    if in_a_process_of_its_own() {
        return;
    }
    within(secs(300), || {
        (0..1000).for_each(one);
        let (fds, memory) = (descriptors(), resident_kib().unwrap());
        (0..10_000).for_each(one);
        let (fds_after, memory_after) = (descriptors(), resident_kib().unwrap());
        assert!(fds_after <= fds + 20, "{fds} descriptors, then {fds_after}");
        let grown = memory_after.saturating_sub(memory);
        assert!(grown < 8 * 1024, "{grown} KiB more");
    });
}

/// While one worker ends the driver, others may still be in the middle of a task. tokio's timers
/// do not panic there either: the task is about to be dropped.
#[test]
fn tasks_that_sleep_while_their_runtime_ends_do_not_panic() {
    within(LIMIT, || {
        let panics = Count::new();
        for _ in 0..100 {
            let runtime = multi_thread(4);
            for _ in 0..32 {
                let panics = Waker::from(panics.clone());
                runtime.spawn(async move {
                    loop {
                        let nap = AssertUnwindSafe(naps()).catch_unwind().await;
                        if nap.is_err() {
                            return panics.wake_by_ref();
                        }
                        thread::sleep(Duration::from_micros(200));
                    }
                });
            }
            thread::sleep(ms(5));
            drop(runtime);
        }
        assert_eq!(panics.wakes(), 0);
    });
}

/// All ways to meet the driver: made and polled, polled again, polled once over.
async fn naps() {
    let mut nap = sleep(Duration::from_micros(300));
    let early = timeout(Duration::from_micros(100), &mut nap).await;
    thread::yield_now();
    if early.is_err() {
        (&mut nap).await;
    }
    thread::yield_now();
    nap.await;
}

/// Its driver may serve another runtime by then.
#[test]
fn a_wheels_timer_stays_pending_in_a_task_of_a_runtime_that_ends() {
    within(LIMIT, || {
        let (ends, (polled, told)) = (multi_thread(2), mpsc::channel());
        let (begins, begun) = mpsc::channel();
        let (go, goes) = mpsc::channel::<()>();
        ends.spawn(async move {
            let mut sleep = Wheel::current().sleep(HOUR);
            assert!(poll_quietly(&mut sleep).is_pending());
            begins.send(()).unwrap();
            // The worker blocks while the other one ends the driver.
            goes.recv().unwrap();
            polled.send(panic_of(|| poll_quietly(&mut sleep))).unwrap();
        });
        begun.recv().unwrap();
        let metrics = {
            let _inside = ends.enter();
            wheel::metrics()
        };
        ends.shutdown_background();
        eventually("the driver ends", || metrics.snapshot().pending == 0);
        let next = multi_thread(2);
        next.block_on(async { sleep(ms(1)).await });
        go.send(()).unwrap();
        assert_eq!(told.recv().unwrap(), None);
    });
}

/// tokio's context may be gone when another thread-local is dropped.
#[test]
fn a_timer_is_reset_while_its_thread_ends() {
    struct Late(RefCell<Option<Sleep>>);
    impl Drop for Late {
        fn drop(&mut self) {
            if let Some(mut sleep) = self.0.take() {
                // Not `now`, which panics there once any clock of the process was paused.
                sleep.reset_unpin(sleep.deadline() - ms(95));
            }
        }
    }
    thread_local! {
        static LATE: Late = const { Late(RefCell::new(None)) };
    }
    let runtime = current_thread();
    let wheel = runtime.block_on(async { Wheel::current() });
    let late = thread::spawn(move || {
        LATE.with(|_| ());
        current_thread().block_on(async {});
        LATE.with(|late| late.0.replace(Some(wheel.sleep(ms(100)))));
    });
    late.join().unwrap();
    runtime.block_on(async { sleep(ms(5)).await });
}
