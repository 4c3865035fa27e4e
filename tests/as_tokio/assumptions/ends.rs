//! Assumed of the end of a runtime or thread: tasks are dropped before the time driver ends, and the timers that are left
//! panic.

use super::*;

#[test]
fn tasks_are_dropped_before_the_time_driver_ends() {
    for runtime in both() {
        let mut interval = inside(runtime.handle(), interval);
        let (waker, _) = new_count_waker();
        assert!(arm(&mut interval, in_an_hour(), &waker).is_pending());
        let works = reports_at_its_end(runtime.handle(), move || {
            let mut is_fine = false;
            let panicked = panic_of(|| {
                let later = arm(&mut interval, in_an_hour(), &waker);
                is_fine = later.is_pending() && arm(&mut interval, past(), &waker).is_ready();
            });
            is_fine && panicked.is_none()
        });
        runtime.block_on(yield_now());
        drop(runtime);
        let works = works.recv_timeout(secs(20)) == Ok(true);
        assumed! { "driver/registry.rs";
            "a task that its runtime's end drops can still arm and disarm an interval": works,
        }
    }
}

#[test]
fn a_task_that_is_spawned_at_or_after_the_end_is_dropped_inside_spawn() {
    let drops_here = |handle: &Handle| {
        let dropped = reports_at_its_end(handle, || thread::current().id());
        dropped.try_recv() == Ok(thread::current().id())
    };
    for runtime in both() {
        let (handle, inside) = (runtime.handle().clone(), runtime.handle().clone());
        let at = reports_at_its_end(&handle, move || drops_here(&inside));
        runtime.block_on(yield_now());
        drop(runtime);
        let at = at.recv_timeout(secs(20)) == Ok(true);
        assumed! { "driver/registry.rs";
            "a runtime that is about to end drops a new task inside of `spawn`": at,
            "a runtime that has ended drops a new task inside of `spawn`": drops_here(&handle),
        }
    }
}

#[test]
fn an_interval_panics_after_its_runtimes_end_with_a_known_message() {
    for runtime in both() {
        let mut interval = inside(runtime.handle(), interval);
        let mut sleep = inside(runtime.handle(), || Box::pin(time::sleep(secs(3600))));
        let (waker, count) = new_count_waker();
        assert!(arm(&mut interval, in_an_hour(), &waker).is_pending());
        drop(runtime);
        let soon = Instant::now() + ms(1);
        let armed = panic_of(|| arm(&mut interval, soon, &waker));
        let polled = panic_of(|| poll_quietly(&mut sleep));
        assumed! { "driver/timer.rs";
            "the end of a runtime wakes the wakers of its timers": count.get() > 0,
            "an interval that is armed after its runtime's end panics with a known message":
                armed.is_some_and(|panic| panic.message == SHUT_DOWN),
            "a timer that is polled after its runtime's end panics with a known message":
                polled.is_some_and(|panic| panic.message == SHUT_DOWN),
        }
    }
}

#[test]
fn a_thread_that_is_about_to_end_reports_it() {
    let (tell, told) = mpsc::channel();
    at_the_end_of_a_thread(move || {
        current_thread().block_on(async {});
        Box::new(move || {
            let current = Handle::try_current();
            let reports = current.is_err_and(|error| {
                error.is_thread_local_destroyed() || error.is_missing_context()
            });
            tell.send(reports).unwrap();
        })
    });
    assumed! { "platform.rs";
        "`Handle::try_current` returns an error while a thread ends, and does not panic":
            told.recv() == Ok(true),
    }
}
