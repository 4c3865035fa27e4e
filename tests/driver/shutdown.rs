//! The end of a runtime wakes its timers once. If they are used afterwards, they panic as Tokio's timers do.

use crate::everywhere::*;

use std::future::{pending, ready};
use std::sync::mpsc::TryRecvError;

#[track_caller]
fn is_shut_down<F: Future + Unpin>(future: &mut F) {
    assert_eq!(message_of(|| poll_quietly(future)), SHUT_DOWN);
}

#[test]
fn pending_timers_are_woken_and_then_panic_when_polled() {
    with_each(|runtime| {
        let (tell, woken) = mpsc::channel();
        let waker = OnWake::waker(move || tell.send(()).unwrap());
        let mut sleep = inside(&runtime, || armed_with(sleep(HOUR), &waker));
        drop(waker);
        assert_eq!(woken.try_recv(), Err(TryRecvError::Empty));
        drop(runtime);
        assert_eq!(woken.try_recv(), Ok(()));
        let is_freed = woken.try_recv() == Err(TryRecvError::Disconnected);
        assert!(is_freed, "the waker was woken twice, or is still held");
        is_shut_down(&mut sleep);
        is_shut_down(&mut sleep);
    });
}

#[test]
fn a_wheel_of_an_ended_runtime_makes_timers_that_panic_when_polled() {
    with_each(|runtime| {
        let (wheel, handle) = (wheel_of(&runtime), runtime.handle().clone());
        drop(runtime);
        let _guard = handle.enter();
        let [current, own] = [Timers::current(), wheel::Builder::new().build().unwrap()];
        assert_eq!(
            [&wheel, &current, &own].map(|wheel| wheel.metrics().snapshot().pending),
            [0; 3]
        );
        assert!(format!("{wheel:?}").contains("Handle"));
        for until in [Instant::now() - ms(1), Instant::now() + HOUR] {
            let mut late = wheel.sleep_until(until);
            is_shut_down(&mut late);
            late.reset_unpin(Instant::now() + HOUR);
            is_shut_down(&mut late);
            wheel.sleep_until(until).reset_unpin(Instant::now() + HOUR);
            is_shut_down(&mut wheel.timeout_at(until, pending::<()>()));
            let answered = poll_quietly(&mut wheel.timeout_at(until, ready(5)));
            assert_eq!(answered, Poll::Ready(Ok(5)));
        }
        drop(wheel.interval(HOUR));
    });
}

#[test]
fn threads_that_start_the_driver_of_an_ended_runtime_panic_as_tokio_does() {
    within(LIMIT, || {
        let ended = current_thread();
        let handle = ended.handle().clone();
        drop(ended);
        let arm_and_reset = || {
            let _guard = handle.enter();
            for _ in 0..2000 {
                // Each thread starts a driver, or finds the one that another thread is starting.
                let panic = panic_of(|| poll_quietly(&mut sleep(HOUR)));
                assert!(panic.is_none_or(|panic| panic.message == SHUT_DOWN));
                sleep(HOUR).reset_unpin(Instant::now() + 2 * HOUR);
            }
        };
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(arm_and_reset);
            }
        });
    });
}

#[test]
fn a_timer_dropped_with_its_thread_is_cancelled() {
    let runtime = multi_thread(1);
    let (tell, woken) = mpsc::channel();
    let waker = OnWake::waker(move || tell.send(()).unwrap());
    let handle = runtime.handle().clone();
    at_the_end_of_a_thread(move || {
        let _guard = handle.enter();
        let sleep = armed_with(sleep(HOUR), &waker);
        Box::new(move || drop(sleep))
    });
    let is_freed = || woken.try_recv().expect_err("woken") == TryRecvError::Disconnected;
    eventually("freed", is_freed);
}

#[test]
fn a_timer_is_reset_while_its_thread_ends() {
    let runtime = current_thread();
    let wheel = wheel_of(&runtime);
    at_the_end_of_a_thread(move || {
        current_thread().block_on(async {});
        let mut sleep = wheel.sleep(ms(100));
        // Not `now`, which panics there once any clock of the process was paused.
        Box::new(move || sleep.reset_unpin(sleep.deadline() - ms(95)))
    });
    runtime.block_on(async { sleep(ms(5)).await });
}

/// One runtime after another on the same thread: each has a driver of its own, which ends with it.
#[cfg(target_os = "linux")]
#[test]
fn ten_thousand_ended_runtimes_leave_nothing_behind() {
    fn one(n: usize) {
        let runtime = current_thread();
        let (waker, count) = new_count_waker();
        let mut held = inside(&runtime, || armed_with(sleep(HOUR), &waker));
        let nap = if n % 100 == 0 { ms(1) } else { Duration::ZERO };
        runtime.block_on(async { sleep(nap).await });
        assert_eq!(
            (count.get(), wheel_of(&runtime).metrics().snapshot().pending),
            (0, 1)
        );
        if n % 3 == 0 {
            let _own = inside(&runtime, || wheel::Builder::new().build().unwrap());
        }
        drop(runtime);
        assert_eq!(count.get(), 1);
        if n % 2 == 0 {
            held.reset_unpin(Instant::now() + HOUR);
        }
    }
    in_a_process_of_its_own(|| {
        (0..1000).for_each(one);
        let (fds, memory) = (descriptors(), resident_kib().unwrap());
        (0..10_000).for_each(one);
        let (fds_after, memory_after) = (descriptors(), resident_kib().unwrap());
        assert!(fds_after <= fds + 20, "{fds} descriptors, then {fds_after}");
        let grown = memory_after.saturating_sub(memory);
        assert!(grown < 8 * 1024, "{grown} KiB more");
    });
}

#[test]
fn a_wheels_timer_stays_pending_in_a_task_of_a_runtime_that_ends() {
    within(LIMIT, || {
        let (ends, (polled, told)) = (multi_thread(2), mpsc::channel());
        let (begins, begun) = mpsc::channel();
        let (go, goes) = mpsc::channel::<()>();
        ends.spawn(async move {
            let mut sleep = armed(Timers::current().sleep(HOUR));
            begins.send(()).unwrap();
            // This worker blocks while the other worker ends the driver.
            goes.recv().unwrap();
            polled.send(panic_of(|| poll_quietly(&mut sleep))).unwrap();
        });
        begun.recv().unwrap();
        let metrics = inside(&ends, wheel::metrics);
        ends.shutdown_background();
        eventually("the driver ends", || metrics.snapshot().pending == 0);
        go.send(()).unwrap();
        assert_eq!(told.recv().unwrap(), None);
    });
}

/// Tokio's own timer is ready then, an hour early. Its poll first checks whether the runtime has ended, then drops the
/// old waker, and then checks the timer, which the end of the runtime has fired in between.
#[test]
fn a_timer_is_not_early_where_its_runtime_ends_inside_a_poll() {
    with_each(|runtime| {
        let handle = runtime.handle().clone();
        let ((begins, begun), (go, goes)) = (mpsc::channel(), mpsc::channel::<()>());
        // A runtime that ends drops its tasks before it ends its timers.
        let task = AtEnd(move || {
            begins.send(()).unwrap();
            let _ = goes.recv();
        });
        handle.spawn(async move {
            let _task = task;
            pending::<()>().await;
        });
        let mut end = Some(thread::spawn(move || drop(runtime)));
        begun.recv().unwrap();
        let _guard = handle.enter();
        let mut timer = {
            let ends = AtEnd(move || {
                go.send(()).unwrap();
                end.take().unwrap().join().unwrap();
            });
            armed_with(sleep(HOUR), &OnWake::waker(move || _ = &ends))
        };
        is_shut_down(&mut timer);
        is_shut_down(&mut timer);
    });
}
