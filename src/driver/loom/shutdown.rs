//! The end of a driver: it wakes the timers that are pending, and refuses later timers.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::model::{assert_dropped, check, current_thread, shards};

const SHUT_DOWN: &str = "A Tokio 1.x context was found, but it is being shutdown.";

/// Returns `None` if `f` panics with the message of Tokio's timers in a runtime that has ended.
fn unless_shut_down<T>(f: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(value) => Some(value),
        Err(panic) if panic.downcast_ref() == Some(&SHUT_DOWN) => None,
        Err(other) => resume_unwind(other),
    }
}

/// The driver closes its alarm before its shards. In between, a timer cannot ask whether its
/// time has come. It must not count as due then: `poll` asserts that it is not ready early.
#[test]
fn loom_insert_where_the_clock_may_be_paused_and_shutdown() {
    check(current_thread(1), |model| {
        model.set_may_pause();
        let mut timer = model.unpolled(0, 30);
        model.while_closing(|| unless_shut_down(|| timer.poll()));
        assert_dropped([timer.drop()], 1);
    });
}

#[test]
fn loom_insert_and_shutdown() {
    check(shards(2), |model| {
        let mut timer = model.unpolled(0, 10);
        let polled = model.while_closing(|| unless_shut_down(|| timer.poll()));
        assert_eq!(timer.wakes.count(), usize::from(polled.is_some()));
        assert_eq!(model.time.at(), None, "the interval of an ended runtime");
        assert!(unless_shut_down(|| timer.poll()).is_none());
        assert_dropped([timer.drop()], 1);
    });
}

#[test]
fn loom_reset_and_shutdown() {
    check(shards(1), |model| {
        let mut timer = model.arm(0, 30);
        model.while_closing(|| timer.reset(20));
        assert_eq!(timer.wakes.count(), 1, "not woken by the end");
        assert_eq!(model.time.at(), None, "the interval of an ended runtime");
        assert!(unless_shut_down(|| timer.poll()).is_none());
        assert_dropped([timer.drop()], 1);
    });
}

#[test]
fn loom_poll_with_another_waker_and_shutdown() {
    check(shards(1), |model| {
        let mut timer = model.arm(0, 30);
        let old = timer.wakes.clone();
        let polled = model.while_closing(|| unless_shut_down(|| timer.poll_with_another()));
        let woken = if polled.is_some() { &timer.wakes } else { &old };
        assert_eq!(woken.count(), 1, "the last waker is woken");
        drop(polled);
        assert_dropped([old], 1);
        assert_dropped([timer.drop()], 1);
    });
}

#[test]
fn loom_fire_and_shutdown() {
    check(shards(1), |model| {
        let timers = [10, 11].map(|deadline| model.arm(0, deadline));
        model.race(|model| model.poll_at(12), || model.close());
        assert_eq!(model.time.at(), None, "the interval of an ended runtime");
        for timer in timers {
            assert_eq!(timer.wakes.count(), 1, "woken by both or by neither");
            assert_dropped([timer.drop()], 1);
        }
    });
}

#[test]
fn loom_keep_and_shutdown() {
    check(shards(1), |model| {
        let mut timer = model.arm(0, 10);
        model.poll_at(10);
        assert!(timer.poll().is_ready());
        model.while_closing(|| timer.keep());
        timer.reset(20);
        assert_dropped([timer.drop()], 2);
    });
}
