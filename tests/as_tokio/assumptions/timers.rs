//! Assumed of Tokio's timers: when they are registered, and that they fire on a known thread without a lock held.

use super::*;

use tokio::runtime::worker_index;

#[test]
fn an_interval_is_armed_on_a_thread_without_a_runtime() {
    for runtime in both() {
        let mut interval = inside(runtime.handle(), interval);
        let (waker, count) = new_count_waker();
        let is_armed = arm(&mut interval, Instant::now() + ms(20), &waker).is_pending();
        assumed! { "driver/alarm/interval.rs";
            "an interval can be reset and polled where no runtime is current": is_armed,
        }
        runtime.block_on(async { time::sleep(ms(60)).await });
        eventually("fired", || count.get() > 0);
    }
}

#[test]
fn arming_for_a_time_that_has_passed_fires_immediately_and_on_this_thread() {
    for runtime in both() {
        let mut interval = inside(runtime.handle(), interval);
        let (tell, woken) = mpsc::channel();
        let waker = OnWake::waker(move || {
            let _ = tell.send(thread::current().id());
        });
        runtime.block_on(async { time::sleep(ms(10)).await });
        let is_ready = arm(&mut interval, past(), &waker).is_ready();
        assumed! { "driver/alarm/interval.rs"; "a deadline that has passed is ready at the first poll": is_ready }
        assert!(arm(&mut interval, in_an_hour(), &waker).is_pending());
        assert_eq!(woken.try_recv().ok(), None);
        let is_ready = arm(&mut interval, past(), &waker).is_ready();
        let is_here = woken.try_recv() == Ok(thread::current().id());
        assumed! { "driver/alarm/interval.rs";
            "moving an armed interval to the past wakes its waker inside of `reset_at`": is_here,
            "that interval is ready then": is_ready,
        }
    }
}

#[test]
fn an_exhausted_budget_leaves_a_timer_unregistered_unless_it_is_unconstrained() {
    current_thread().block_on(poll_fn(|cx| {
        while let Poll::Ready(budget) = coop::poll_proceed(cx) {
            budget.made_progress();
        }
        let mut quiet = Context::from_waker(Waker::noop());
        let constrained = pin!(time::sleep_until(past())).poll(&mut quiet);
        let unconstrained = arm(&mut interval(), past(), Waker::noop());
        assumed! { "driver/alarm/interval.rs";
            "a timer that is due is pending if the budget is spent": constrained.is_pending(),
            "`coop::unconstrained` polls it though the budget is spent": unconstrained.is_ready(),
        }
        Poll::Ready(())
    }));
}

/// Hangs if this does not hold, because a lock is then taken twice.
#[test]
fn wakers_are_called_outside_of_tokios_locks_and_on_a_thread_that_drives_time() {
    within(secs(120), || (0..3).for_each(a_waker_uses_timers));
}

fn a_waker_uses_timers(workers: usize) {
    let runtime = on_workers(workers);
    let handle = runtime.handle().clone();
    let intervals = inside(runtime.handle(), || {
        Arc::new(Mutex::new((interval(), interval())))
    });
    let (tell, mut woken) = unbounded_channel();
    let again = intervals.clone();
    let waker = OnWake::waker(move || {
        // No thread polls these intervals, so the lock is free, unless this waker is called inside itself.
        let Ok(mut both) = again.try_lock() else {
            return;
        };
        // Arm, move, disarm, make and drop timers of the same runtime.
        let (mine, other) = &mut *both;
        let _ = arm(mine, in_an_hour(), Waker::noop());
        let _ = arm(other, in_an_hour(), Waker::noop());
        let _ = arm(other, past(), Waker::noop());
        let _guard = handle.enter();
        let _ = poll_quietly(&mut Box::pin(time::sleep_until(in_an_hour())));
        tell.send((thread::current().id(), worker_index())).unwrap();
    });
    let soon = Instant::now() + ms(20);
    assert!(arm(&mut intervals.lock().unwrap().0, soon, &waker).is_pending());
    let message = told_while_driving(&runtime, &mut woken);
    let drives = message.is_some_and(|(thread, index)| match workers {
        0 => thread == thread::current().id(),
        _ => index.is_some_and(|index| index < workers),
    });
    assumed! { "driver/alarm/mod.rs";
        "a waker that is called for a timer may use timers of that runtime": message.is_some(),
        "a timer's waker is called on a thread that drives its runtime": drives,
    }
}

#[test]
fn only_a_current_thread_runtimes_clock_can_differ_from_the_real_one() {
    let runtime = multi_thread(1);
    let before = std::time::Instant::now();
    let shown = runtime.block_on(runtime.spawn(async { Instant::now().into_std() }));
    let is_real = (before..=std::time::Instant::now()).contains(&shown.unwrap());
    assumed! { "driver/alarm/mod.rs"; "a multi-thread runtime shows the real clock": is_real }
    let paused = panic_of(|| runtime.block_on(async { time::pause() }));
    assumed! { "driver/alarm/mod.rs";
        "the clock of a multi-thread runtime cannot be paused": paused.is_some(),
    }
}
