//! Wakers that do what they like: in `wake`, and in their own drop.

#![allow(clippy::async_yields_async, reason = "timers are handed on by tasks")]

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Wake, Waker};
use std::time::Duration;

use futures::stream::{FuturesUnordered, StreamExt as _};
use support::{
    HOUR, OnWake, counting, eventually, ms, panic_of, poll, poll_quietly, runtimes, secs, within,
};
use tokio::runtime::Runtime;
use wheel::{Instant, Sleep, Wheel, interval, sleep, sleep_until, timeout};

const LIMIT: Duration = Duration::from_secs(60);

/// Runs a test in every runtime: inside it, its timers can fire.
fn everywhere(test: impl AsyncFn(&Runtime) + Copy + Send + 'static) {
    within(LIMIT, move || {
        for (_, runtime) in runtimes() {
            runtime.block_on(test(&runtime));
        }
    });
}

type Shared<T> = Arc<Mutex<T>>;

fn shared<T>(value: T) -> Shared<T> {
    Arc::new(Mutex::new(value))
}

async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !is_so() {
        assert!(start.elapsed() < secs(20), "{what}: not within 20 s");
        sleep(ms(1)).await;
    }
}

#[test]
fn a_wake_may_drop_timers_its_own_among_them() {
    everywhere(async |_| {
        let list: Shared<Vec<Sleep>> = shared(Vec::new());
        let (taken, wakes) = (list.clone(), Arc::new(AtomicUsize::new(0)));
        let seen = wakes.clone();
        let waker = OnWake::waker(move || {
            seen.fetch_add(1, Ordering::SeqCst);
            drop(std::mem::take(&mut *taken.lock().unwrap()));
        });
        {
            let mut list = list.lock().unwrap();
            let deadline = Instant::now() + ms(30);
            for n in 0..1000 {
                let mut sleep = sleep_until(deadline + ms(n / 100));
                let _ = poll(&mut sleep, &waker);
                list.push(sleep);
            }
        }
        until("woken", || wakes.load(Ordering::SeqCst) > 0).await;
        sleep(ms(20)).await;
        assert!(list.lock().unwrap().is_empty());
        assert_eq!(Arc::strong_count(&wakes), 2, "`waker` and nobody else");
    });
}

#[test]
fn a_wake_may_arm_poll_and_reset_timers() {
    everywhere(async |runtime| {
        let handle = runtime.handle().clone();
        let made: Shared<Vec<Sleep>> = shared(Vec::new());
        let others: Shared<Vec<Sleep>> = shared(Vec::new());
        let (inner_waker, inner) = counting();
        for _ in 0..100 {
            let mut other = sleep(HOUR);
            assert!(poll(&mut other, &inner_waker).is_pending());
            others.lock().unwrap().push(other);
        }
        let waker = {
            let (made, others, inner_waker) = (made.clone(), others.clone(), inner_waker.clone());
            OnWake::waker(move || {
                let _guard = handle.enter();
                for duration in [Duration::ZERO, ms(1), ms(3), HOUR] {
                    let mut sleep = sleep(duration);
                    let _ = poll(&mut sleep, &inner_waker);
                    made.lock().unwrap().push(sleep);
                }
                if let Some(mut other) = others.lock().unwrap().pop() {
                    other.reset_unpin(Instant::now() + ms(2));
                    made.lock().unwrap().push(other);
                }
                let now = Instant::now();
                for other in &mut *others.lock().unwrap() {
                    other.reset_unpin(now + HOUR);
                }
            })
        };
        let mut outer: Vec<_> = (0..50).map(|n| sleep(ms(10 + n / 10))).collect();
        for sleep in &mut outer {
            let _ = poll(sleep, &waker);
        }
        until("chained", || others.lock().unwrap().len() <= 50).await;
        until("fired", || inner.wakes() >= 50).await;
        drop(outer);
        made.lock().unwrap().clear();
        others.lock().unwrap().clear();
        eventually("cancelled", || Wheel::current().pending() == 0);
    });
}

#[test]
fn a_waker_whose_drop_drops_timers() {
    struct Owner(Shared<Vec<Sleep>>);
    impl Wake for Owner {
        fn wake(self: Arc<Self>) {}
    }
    impl Drop for Owner {
        fn drop(&mut self) {
            self.0.lock().unwrap().clear();
        }
    }
    everywhere(async |_| {
        let (waker, count) = counting();
        let own = || {
            let mut owned: Vec<Sleep> = (0..100).map(|_| sleep(HOUR)).collect();
            for sleep in &mut owned {
                assert!(poll(sleep, &waker).is_pending());
            }
            Waker::from(Arc::new(Owner(shared(owned))))
        };
        // Dropped with the timer, replaced, woken, and reset to the past.
        let mut dropped = sleep(HOUR);
        assert!(poll(&mut dropped, &own()).is_pending());
        drop(dropped);
        let mut replaced = sleep(HOUR);
        assert!(poll(&mut replaced, &own()).is_pending());
        assert!(poll_quietly(&mut replaced).is_pending());
        let mut fired = sleep(ms(5));
        let _ = poll(&mut fired, &own());
        until("fired", || fired.is_elapsed()).await;
        let mut past = sleep(HOUR);
        assert!(poll(&mut past, &own()).is_pending());
        past.reset_unpin(Instant::now());
        drop(replaced);
        until("freed", || Arc::strong_count(&count) == 2).await;
        assert_eq!(count.wakes(), 0);
        until("cancelled", || Wheel::current().pending() <= 1).await;
    });
}

#[test]
fn a_chain_of_wakers_that_own_timers_is_freed_from_the_top() {
    struct Link(#[expect(dead_code, reason = "dropped")] Sleep);
    impl Wake for Link {
        fn wake(self: Arc<Self>) {}
    }
    everywhere(async |_| {
        let mut top = sleep(HOUR);
        assert!(poll_quietly(&mut top).is_pending());
        for _ in 0..500 {
            let waker = Waker::from(Arc::new(Link(top)));
            top = sleep(HOUR);
            assert!(poll(&mut top, &waker).is_pending());
        }
        drop(top);
        eventually("cancelled", || Wheel::current().pending() == 0);
    });
}

#[test]
fn a_panicking_waker_takes_nothing_else_down() {
    everywhere(async |_| {
        let bad = OnWake::waker(|| {
            // Silently: the hook is told to keep it to itself.
            let panic = panic_of(|| panic!("a waker's own affair"));
            assert!(panic.is_some());
            std::panic::resume_unwind(Box::new("a waker's own affair"));
        });
        for _ in 0..3 {
            let (good, count) = counting();
            let deadline = Instant::now() + ms(30);
            let mut sleeps: Vec<_> = (0..300).map(|_| sleep_until(deadline)).collect();
            let mut pending = 0;
            for (n, sleep) in sleeps.iter_mut().enumerate() {
                let is_bad = n % 7 == 0;
                let polled = poll(sleep, if is_bad { &bad } else { &good });
                pending += usize::from(polled.is_pending() && !is_bad);
            }
            until("fired", || count.wakes() == pending).await;
            // And the driver goes on.
            timeout(secs(20), sleep(ms(2))).await.unwrap();
            assert!(
                sleeps
                    .iter_mut()
                    .all(|sleep| poll_quietly(sleep).is_ready())
            );
        }
        assert_eq!(Wheel::current().pending(), 0);
    });
}

/// A reset to the past wakes on the spot: it is the waker's own affair there, too.
#[test]
fn a_waker_that_panics_when_a_reset_wakes_it_takes_nothing_down() {
    everywhere(async |_| {
        let bad = OnWake::waker(|| std::panic::resume_unwind(Box::new("at a reset")));
        let past = Instant::now() - secs(1);
        let mut registered = sleep(HOUR);
        assert!(poll(&mut registered, &bad).is_pending());
        registered.reset_unpin(past);
        assert!(poll_quietly(&mut registered).is_ready());

        // Once it is ready, its last waker is kept for a reset.
        let mut done = sleep_until(past);
        assert!(poll(&mut done, &bad).is_ready());
        done.reset_unpin(past);
        assert!(poll_quietly(&mut done).is_ready());
        assert_eq!(Wheel::current().pending(), 0);
    });
}

#[test]
fn a_waker_that_panics_at_the_end_of_the_runtime_takes_nothing_else_down() {
    within(LIMIT, || {
        for (_, runtime) in runtimes() {
            let bad = OnWake::waker(|| std::panic::resume_unwind(Box::new("at the end")));
            let (good, count) = counting();
            let mut sleeps: Vec<_> = {
                let _guard = runtime.enter();
                (0..100).map(|_| sleep(HOUR)).collect()
            };
            for (n, sleep) in sleeps.iter_mut().enumerate() {
                assert!(poll(sleep, if n % 2 == 0 { &bad } else { &good }).is_pending());
            }
            drop(runtime);
            assert_eq!(count.wakes(), 50);
        }
    });
}

#[test]
fn a_panic_whose_payload_panics_when_dropped_takes_no_timer_down() {
    struct Worse;
    impl Drop for Worse {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                std::panic::resume_unwind(Box::new("worse"));
            }
        }
    }
    if support::in_a_process_of_its_own() {
        return;
    }
    within(LIMIT, || {
        let runtime = support::multi_thread(2);
        let bad = OnWake::waker(|| std::panic::resume_unwind(Box::new(Worse)));
        let (good, count) = counting();
        let mut sleeps: Vec<_> = {
            let _guard = runtime.enter();
            let deadline = Instant::now() + ms(50);
            (0..20).map(|_| sleep_until(deadline)).collect()
        };
        for (n, sleep) in sleeps.iter_mut().enumerate() {
            assert!(poll(sleep, if n == 3 { &bad } else { &good }).is_pending());
        }
        eventually("all others are woken", || count.wakes() == 19);
        runtime.block_on(async { timeout(secs(20), sleep(ms(2))).await.unwrap() });
    });
}

#[test]
fn thousands_of_sleeps_in_one_task() {
    everywhere(async |_| {
        let start = Instant::now();
        let sleeps = FuturesUnordered::new();
        for n in 0..5000 {
            let deadline = start + ms(n % 50);
            sleeps.push(async move {
                sleep_until(deadline).await;
                assert!(Instant::now() >= deadline);
            });
        }
        assert_eq!(sleeps.count().await, 5000);
    });
}

#[test]
fn a_timer_that_moves_between_tasks_wakes_the_last() {
    everywhere(async |_| {
        let mut moving = Box::pin(sleep(ms(50)));
        for _ in 0..10 {
            moving = tokio::spawn(async move {
                // A task of its own each time, which polls once and passes it on.
                let polled = futures::poll!(&mut moving);
                let _ = polled;
                moving
            })
            .await
            .unwrap();
        }
        let deadline = moving.deadline();
        tokio::spawn(moving).await.unwrap();
        assert!(Instant::now() >= deadline);
    });
}

#[test]
fn select_loops_that_reset_their_timer_on_every_message() {
    everywhere(async |_| {
        let (tx, mut rx) = tokio::sync::mpsc::channel::<u32>(4);
        let sender = tokio::spawn(async move {
            for n in 0..200 {
                tx.send(n).await.unwrap();
                if n % 50 == 49 {
                    sleep(ms(2)).await;
                }
            }
            tx
        });
        // On a busy machine the sender may take its time to begin.
        assert_eq!(rx.recv().await, Some(0));
        let idle = secs(1);
        let mut timer = sleep(idle);
        let mut ticks = interval(ms(1));
        let (mut messages, mut ticked, mut last) = (1, 0, Instant::now());
        loop {
            tokio::select! {
                Some(_) = rx.recv() => {
                    messages += 1;
                    last = Instant::now();
                    timer.reset_unpin(last + idle);
                }
                () = &mut timer => break,
                _ = ticks.tick() => ticked += 1,
            }
        }
        assert_eq!(messages, 200);
        assert!(ticked > 0);
        assert!(last.elapsed() >= idle);
        drop(sender.await.unwrap());
    });
}

#[test]
fn join_and_select_poll_timers_with_one_waker() {
    everywhere(async |_| {
        for n in 0..20 {
            let start = Instant::now();
            let (a, b) = tokio::join!(sleep(ms(n % 3)), timeout(ms(5), sleep(ms(1))));
            assert_eq!((a, b.is_ok() || start.elapsed() >= ms(5)), ((), true));
            tokio::select! {
                () = sleep(HOUR) => unreachable!(),
                () = sleep(ms(1)) => {}
            }
            assert!(start.elapsed() >= ms(1 + n % 3));
        }
        eventually("cancelled", || Wheel::current().pending() == 0);
    });
}

#[test]
fn a_timer_polled_from_inside_a_wake_of_itself() {
    // The waker polls the very timer that wakes it, and drops it.
    everywhere(async |_| {
        let slot: Shared<Option<Sleep>> = shared(None);
        let done = Arc::new(AtomicUsize::new(0));
        let (own, seen) = (slot.clone(), done.clone());
        let waker = OnWake::waker(move || {
            if let Ok(mut slot) = own.try_lock()
                && let Some(mut sleep) = slot.take()
            {
                assert_eq!(poll_quietly(&mut sleep), Poll::Ready(()));
                seen.fetch_add(1, Ordering::SeqCst);
            }
        });
        let mut sleep = sleep(ms(20));
        let polled = poll(&mut sleep, &waker);
        *slot.lock().unwrap() = Some(sleep);
        if polled.is_pending() {
            until("woken", || done.load(Ordering::SeqCst) == 1).await;
        }
    });
}

#[test]
fn a_wake_may_block_on_a_runtime_of_its_own() {
    // Not advisable, but nobody's lock is held meanwhile.
    within(LIMIT, || {
        let runtime = support::multi_thread(2);
        let (waker, count) = counting();
        let other = Arc::new(support::current_thread());
        let slow = {
            let other = other.clone();
            OnWake::waker(move || {
                let mut inner = {
                    let _guard = other.enter();
                    sleep(HOUR)
                };
                assert!(poll_quietly(&mut inner).is_pending());
                inner.reset_unpin(Instant::now());
                assert!(inner.is_elapsed() || poll_quietly(&mut inner).is_ready());
            })
        };
        let _guard = runtime.enter();
        let deadline = Instant::now() + ms(20);
        let mut sleeps: Vec<Pin<Box<Sleep>>> =
            (0..10).map(|_| Box::pin(sleep_until(deadline))).collect();
        for (n, sleep) in sleeps.iter_mut().enumerate() {
            let _ = poll(sleep, if n == 0 { &slow } else { &waker });
        }
        eventually("fired", || sleeps.iter().all(|sleep| sleep.is_elapsed()));
        eventually("woken", || count.wakes() == 9);
        drop(other);
    });
}

#[test]
fn a_task_that_is_aborted_frees_its_timer() {
    everywhere(async |_| {
        let wheel = Wheel::current();
        let tasks: Vec<_> = (0..100)
            .map(|_| tokio::spawn(async { timeout(HOUR, std::future::pending::<()>()).await }))
            .collect();
        until("armed", || wheel.pending() >= 100).await;
        for task in &tasks {
            task.abort();
        }
        for task in tasks {
            assert!(task.await.unwrap_err().is_cancelled());
        }
        until("cancelled", || wheel.pending() <= 1).await;
    });
}

#[test]
fn futures_that_own_timers_and_are_dropped_by_a_timer_free_them() {
    everywhere(async |_| {
        let inner = async {
            let mut owned: Vec<Sleep> = (0..100).map(|_| sleep(HOUR)).collect();
            std::future::poll_fn(|cx| {
                for sleep in &mut owned {
                    assert!(Pin::new(sleep).poll(cx).is_pending());
                }
                Poll::<()>::Pending
            })
            .await;
        };
        assert!(timeout(ms(10), inner).await.is_err());
        eventually("cancelled", || Wheel::current().pending() == 0);
    });
}
