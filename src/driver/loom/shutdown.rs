//! The end of a driver: pending timers are woken, later
//! timers are refused.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::{Armed, Model, check};

const SHUT_DOWN: &str = "A Tokio 1.x context was found, but it is being shutdown.";

/// `None` if `f` panics as tokio does when a runtime is gone.
pub(super) fn unless_shut_down<T>(f: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(value) => Some(value),
        Err(panic) if panic.downcast_ref() == Some(&SHUT_DOWN) => None,
        Err(other) => resume_unwind(other),
    }
}

fn assert_released(timer: Armed) {
    let wakes = timer.drop();
    assert!(wakes.is_freed(), "a waker is leaked");
}

/// The end takes the alarm first. A timer whose millisecond can no longer be asked for is not due.
#[test]
fn loom_insert_where_the_clock_may_be_paused_and_shutdown() {
    check(|| {
        let model = Model::current_thread();
        model.may_be_paused();
        let other = model.spawn(|model| model.close());
        // `poll` asserts that the timer is not early.
        let mut timer = model.unpolled(0, 30);
        let _ = unless_shut_down(|| timer.poll());
        other.join().unwrap();
        assert_released(timer);
    });
}

#[test]
fn loom_insert_and_shutdown() {
    check(|| {
        let model = Model::new(2);
        let other = model.spawn(|model| model.close());
        let mut timer = model.unpolled(0, 10);
        let pending = unless_shut_down(|| timer.poll()).is_some();
        other.join().unwrap();
        assert_eq!(timer.wakes.count(), usize::from(pending));
        assert_eq!(
            model.time.at(),
            None,
            "an ended runtime's interval is armed"
        );
        assert!(unless_shut_down(|| timer.poll()).is_none());
        assert_released(timer);
    });
}

#[test]
fn loom_drop_and_shutdown() {
    check(|| {
        let model = Model::new(1);
        let timer = model.arm(0, 10);
        let other = model.spawn(|model| model.close());
        let wakes = timer.drop();
        other.join().unwrap();
        assert!(wakes.count() <= 1);
        assert!(wakes.is_freed(), "a waker is leaked");
    });
}

#[test]
fn loom_reset_and_shutdown() {
    check(|| {
        let model = Model::new(1);
        let mut timer = model.arm(0, 30);
        let other = model.spawn(|model| model.close());
        timer.reset(20);
        other.join().unwrap();
        assert_eq!(timer.wakes.count(), 1, "woken, to find out");
        assert_eq!(model.time.at(), None);
        assert!(unless_shut_down(|| timer.poll()).is_none());
        assert_released(timer);
    });
}

#[test]
fn loom_poll_with_another_waker_and_shutdown() {
    check(|| {
        let model = Model::new(1);
        let mut timer = model.arm(0, 30);
        let other = model.spawn(|model| model.close());
        let old = timer.wakes.clone();
        let polled = unless_shut_down(|| timer.poll_with_another());
        other.join().unwrap();
        let woken = if polled.is_some() { &timer.wakes } else { &old };
        assert_eq!(woken.count(), 1, "the last waker is woken");
        drop(polled);
        assert!(old.is_freed());
        assert_released(timer);
    });
}

#[test]
fn loom_fire_and_shutdown() {
    check(|| {
        let model = Model::new(1);
        let timers = [model.arm(0, 10), model.arm(0, 11)];
        let other = model.spawn(|model| model.poll_at(12));
        model.close();
        other.join().unwrap();
        assert_eq!(model.time.at(), None);
        for timer in timers {
            assert_eq!(timer.wakes.count(), 1, "fired or told, not both");
            assert_released(timer);
        }
    });
}

#[test]
fn loom_keep_and_shutdown() {
    check(|| {
        let model = Model::new(1);
        let mut timer = model.arm(0, 10);
        model.poll_at(10);
        assert!(timer.poll().is_ready());
        let other = model.spawn(|model| model.close());
        timer.keep();
        other.join().unwrap();
        timer.reset(20);
        assert_released(timer);
    });
}
