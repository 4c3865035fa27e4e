//! A waker may use timers, block or panic when it is woken or dropped, and all other timers still fire.

use crate::everywhere::*;

/// Polls each timer with the waker for its number. Returns how many are pending.
fn poll_all<'a>(sleeps: &mut [Sleep], waker: impl Fn(usize) -> &'a Waker) -> usize {
    let polled = sleeps.iter_mut().enumerate();
    let is_pending = polled.map(|(n, sleep)| poll(sleep, waker(n)).is_pending());
    is_pending.filter(|&is_pending| is_pending).count()
}

fn crowd(size: usize, deadline: Instant) -> Vec<Sleep> {
    (0..size).map(|_| sleep_until(deadline)).collect()
}

#[test]
fn a_chain_of_wakers_that_own_timers_is_freed_from_the_top() {
    in_each(async |_| {
        let mut top = pending(HOUR);
        for _ in 0..500 {
            let owner = OnWake::waker(move || _ = &top);
            top = armed_with(sleep(HOUR), &owner);
        }
        drop(top);
        eventually("cancelled", || wheel::metrics().snapshot().pending == 0);
    });
}

/// Returns a waker whose panic no panic hook reports.
fn panicking() -> Waker {
    OnWake::waker(|| resume_unwind(Box::new("by a waker")))
}

#[test]
fn a_panicking_waker_takes_nothing_else_down() {
    in_each(async |_| {
        for _ in 0..3 {
            let (bad, (good, count)) = (panicking(), new_count_waker());
            let mut bads = crowd(50, Instant::now() + ms(30));
            let mut goods = crowd(250, bads[0].deadline());
            // Timers whose waker panics are armed among the others.
            let mut pending = 0;
            for (bads, goods) in bads.chunks_mut(1).zip(goods.chunks_mut(5)) {
                poll_all(bads, |_| &bad);
                pending += poll_all(goods, |_| &good);
            }
            until("fired", || count.get() == pending).await;
            // The driver goes on after that.
            timeout(secs(20), sleep(ms(2))).await.unwrap();
            assert_eq!(poll_all(&mut bads, |_| &good), 0);
            assert_eq!(poll_all(&mut goods, |_| &good), 0);
        }
        // The timers whose waker panics have fired, too: only the timeouts of 20 s were cancelled.
        let counts = wheel::metrics().snapshot();
        assert!(counts.cancelled <= 3 && counts.pending == 0, "{counts:?}");
    });
}

/// A reset to the past wakes the task immediately. A panic of the waker does not reach the caller of the reset.
#[test]
fn a_waker_that_panics_when_a_reset_wakes_it_takes_nothing_down() {
    in_each(async |_| {
        let (bad, past) = (panicking(), Instant::now() - secs(1));
        // The first timer is armed, and the second is ready. A ready timer keeps its last waker for a reset.
        for mut timer in [sleep(HOUR), sleep_until(past)] {
            let _ = poll(&mut timer, &bad);
            timer.reset_unpin(past);
            assert!(poll_quietly(&mut timer).is_ready());
        }
        assert_eq!(wheel::metrics().snapshot().pending, 0);
    });
}

/// Returns the waker of a task whose runtime has ended. It is the last reference to a hook of that runtime, which
/// owns a value whose drop panics.
fn waker_of_an_ended_runtime() -> Waker {
    struct Panicking;
    impl Drop for Panicking {
        fn drop(&mut self) {
            resume_unwind(Box::new("by a value of a hook"));
        }
    }
    let (mut builder, held) = (Builder::new_current_thread(), Panicking);
    builder.on_thread_park(move || _ = &held);
    let task = poll_fn(|cx| Poll::Ready(cx.waker().clone()));
    let runtime = builder.build().unwrap();
    runtime.block_on(async { tokio::spawn(task).await.unwrap() })
}

#[test]
fn wakers_that_panic_when_dropped_later_take_nothing_down() {
    in_each(async |_| {
        let (good, count) = new_count_waker();
        let mut goods = crowd(4, Instant::now() + ms(30));
        let pending = poll_all(&mut goods, |_| &good);
        let wakers = thread::spawn(|| [(); 3].map(|()| waker_of_an_ended_runtime()))
            .join()
            .unwrap();
        let timers = wakers.map(|waker| armed_with(sleep(HOUR), &waker));
        // If the clock may be paused, dropping the timer drops its waker, so the drop of the timer panics, as
        // Tokio's does.
        let cancel = |timer| drop(catch_unwind(AssertUnwindSafe(|| drop(timer))));
        let [here, there, too] = timers;
        cancel(here);
        thread::spawn(move || [there, too].map(cancel))
            .join()
            .unwrap();
        until("fired", || count.get() == pending).await;
        timeout(secs(20), sleep(ms(2))).await.unwrap();
    });
}

#[test]
fn a_panic_whose_payload_panics_when_dropped_takes_no_timer_down() {
    struct Worse;
    impl Drop for Worse {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                resume_unwind(Box::new("worse"));
            }
        }
    }
    in_a_process_of_its_own(|| {
        let runtime = multi_thread(2);
        let bad = OnWake::waker(|| resume_unwind(Box::new(Worse)));
        let (good, count) = new_count_waker();
        // The runtime's first timer makes the driver, which may take long.
        runtime.block_on(async { sleep(ms(1)).await });
        let mut sleeps = inside(&runtime, || crowd(20, Instant::now() + secs(1)));
        let pending = poll_all(&mut sleeps, |n| if n == 3 { &bad } else { &good });
        assert_eq!(pending, 20);
        eventually("all others are woken", || count.get() == 19);
        runtime.block_on(async { timeout(secs(20), sleep(ms(2))).await.unwrap() });
    });
}

/// Here applying a cancel queues the next one. A pass that applied cancels until none was queued would fire nothing
/// before the last of them. The same would happen beside threads that drop many timers.
#[test]
fn a_due_timer_does_not_wait_for_cancels_that_are_queued_during_the_pass() {
    let runtime = multi_thread(1);
    let wheel = inside(&runtime, Timers::current);
    // Wait until the driver's first pass is over.
    runtime.block_on(wheel.sleep(ms(1)));
    let (links, left) = (Arc::new(()), Arc::new(AtomicUsize::new(0)));
    let (counted, at_fire) = (links.clone(), left.clone());
    let fires = OnWake::waker(move || at_fire.store(Arc::strong_count(&counted), Ordering::SeqCst));
    let _due = armed_with(wheel.sleep(ms(300)), &fires);
    let top = (0..10_000).fold(None, |next: Option<Sleep>, _| {
        let owned = (next, links.clone());
        let link = OnWake::waker(move || {
            let _ = &owned;
        });
        Some(armed_with(wheel.sleep(HOUR), &link))
    });
    // This thread has made no timer, so each cancel is queued.
    thread::spawn(move || drop(top)).join().unwrap();
    eventually("fired", || left.load(Ordering::SeqCst) > 0);
    assert!(left.load(Ordering::SeqCst) > 9_900, "{left:?} are left");
    thread::spawn(move || drop(runtime)).join().unwrap();
}
