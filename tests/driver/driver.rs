//! A runtime has one default driver, which is one task. Any thread can wake it, and only its own runtime fires its timers.

use crate::everywhere::*;

#[test]
fn the_driver_is_one_task() {
    with_each(|runtime| {
        let metrics = runtime.metrics();
        runtime.block_on(async { tokio::time::sleep(ms(1)).await });
        assert_eq!(metrics.num_alive_tasks(), 0, "no timers, no driver");
        let _held = inside(&runtime, || [(); 100].map(|()| sleep(HOUR))).map(armed);
        runtime.block_on(async { on_time(sleep(ms(5))).await });
        assert_eq!(metrics.num_alive_tasks(), 1);
    });
}

#[test]
fn a_timer_armed_on_a_foreign_thread_wakes_a_driver_that_sleeps_long() {
    within(LIMIT, || {
        let runtime = multi_thread(2);
        let _guard = runtime.enter();
        drop(support::pending(HOUR));
        let is_parked = |worker| runtime.metrics().worker_park_unpark_count(worker) % 2 == 1;
        eventually("the workers sleep until the hour is over", || {
            wheel::metrics().snapshot().passes > 0 && (0..2).all(is_parked)
        });
        futures::executor::block_on(on_time(sleep(ms(5))));
    });
}

#[test]
fn a_timer_that_a_foreign_thread_finds_due_fires_no_other() {
    within(LIMIT, || {
        let runtime = current_thread();
        let (waker, count) = new_count_waker();
        let [mut other, mut late] = inside(&runtime, || [300, 5].map(|n| sleep(ms(n))));
        assert!(poll(&mut other, &waker).is_pending());
        // Tokio's time passes 5 ms, but no thread drives the runtime when 300 ms are over.
        runtime.block_on(async { tokio::time::sleep(ms(15)).await });
        // A pass would leave the timers of the last millisecond to Tokio.
        let due = other.deadline() + ms(2);
        eventually("both are due", || Instant::now() >= due);
        let before = count.get();
        let found = thread::scope(|scope| scope.spawn(|| poll_quietly(&mut late)).join());
        assert!(found.unwrap().is_ready());
        assert_eq!(count.get(), before, "fired by a foreign thread");
        runtime.block_on(join_all([late, other]));
    });
}

/// H33: between the passes, Tokio polls I/O.
#[test]
fn a_large_burst_is_fired_by_many_passes() {
    const BURST: usize = 5_000;
    within(LIMIT, || {
        multi_thread(1).block_on(async {
            let deadline = Instant::now() + ms(1500);
            let (waker, count) = new_count_waker();
            let burst = (0..BURST).map(|_| armed_with(sleep_until(deadline), &waker));
            let _burst: Vec<_> = burst.collect();
            until("fired", || count.get() == BURST).await;
            let passes = wheel::metrics().snapshot().passes;
            assert!(passes >= BURST as u64 / 256, "{passes} passes");
        });
    });
}

/// The runtime calls its hook for new tasks while the custom driver's task is spawned, before there is a default
/// driver. The hook's timer must start the default driver.
#[cfg(tokio_unstable)]
#[test]
fn a_hook_gets_no_timer_of_a_custom_driver_that_starts() {
    for mut builder in [Builder::new_current_thread(), Builder::new_multi_thread()] {
        builder.enable_time().on_task_spawn(|_| drop(sleep(HOUR)));
        builder.build().unwrap().block_on(async {
            let custom = wheel::Builder::new().tick(HOUR).build().unwrap();
            let _held = support::pending(HOUR);
            assert_eq!(
                (
                    custom.metrics().snapshot().pending,
                    wheel::metrics().snapshot().pending
                ),
                (0, 1)
            );
            on_time(sleep(ms(5))).await;
        });
    }
}

/// A driver's task is dropped inside `spawn`, because its runtime has ended. The hook's timer finds that
/// driver, although another thread removes closed drivers at the same time.
#[cfg(tokio_unstable)]
#[test]
fn a_hook_that_starts_timers_in_an_ended_runtime_does_not_recur() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let mut builder = Builder::new_current_thread();
    builder.enable_time().on_task_terminate(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        let other = || current_thread().block_on(async { sleep(ms(1)).await });
        thread::spawn(other).join().unwrap();
        drop(sleep(HOUR));
    });
    let ended = builder.build().unwrap().handle().clone();
    let _guard = ended.enter();
    drop(sleep(HOUR));
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

/// Tokio never polls a task whose spawn a hook has interrupted. So the driver of that task closes, and the next timer
/// starts another one.
#[cfg(tokio_unstable)]
#[test]
fn a_hook_that_panics_leaves_no_driver_without_a_task() {
    for mut builder in [Builder::new_current_thread(), Builder::new_multi_thread()] {
        let fuse = AtomicBool::new(true);
        builder.enable_time();
        builder.on_task_spawn(move |_| assert!(!fuse.swap(false, Ordering::SeqCst), "by a hook"));
        let runtime = builder.build().unwrap();
        runtime.block_on(async {
            let first = catch_unwind(AssertUnwindSafe(|| sleep(HOUR)));
            assert!(first.is_err());
            on_time(sleep(ms(5))).await;
        });
        // Tokio keeps the first task until the runtime ends.
        assert_eq!(runtime.metrics().num_alive_tasks(), 2);
    }
}

/// The worker that resets the timer requests a binding, which calls the hook.
#[cfg(tokio_unstable)]
#[test]
fn a_hook_that_panics_reaches_no_reset() {
    let fuse = Arc::new(AtomicBool::new(false));
    let hook = fuse.clone();
    let mut builder = Builder::new_multi_thread();
    let builder = builder.worker_threads(1).enable_time();
    builder.on_task_spawn(move |_| assert!(!hook.swap(false, Ordering::SeqCst), "by a hook"));
    let runtime = builder.build().unwrap();
    let (waker, count) = new_count_waker();
    let mut timer = inside(&runtime, || sleep_until(Instant::now() - secs(1)));
    assert!(poll(&mut timer, &waker).is_ready());
    runtime.block_on(async {
        let reset = tokio::spawn(async move {
            fuse.store(true, Ordering::SeqCst);
            timer.reset_unpin(Instant::now() + ms(5));
            timer
        });
        let _timer = reset.await.unwrap();
        until("woken", || count.get() == 1).await;
    });
}
