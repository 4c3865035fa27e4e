//! The end of a driver, and the next driver on the same shards: pending timers are woken, later
//! timers are refused, and no relic touches a stranger's entry.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::{Armed, Model, check};
use crate::clock::Tick;

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

/// A relic is dropped, reset or polled while its shard goes over to the next driver.
fn against_the_next_driver(relic: impl Fn(&mut Armed) + Copy + Send + Sync + 'static) {
    check(move || {
        let model = Model::new(1);
        let mut timer = model.arm(0, 30);
        let other = model.spawn(|model| {
            model.close();
            let next = model.reopen();
            let tenant = next.arm(0, 30);
            (next, tenant)
        });
        let _ = unless_shut_down(|| relic(&mut timer));
        let wakes = timer.drop();
        let (next, tenant) = other.join().unwrap();
        assert!(wakes.is_freed(), "a waker is leaked");
        assert_eq!(tenant.wakes.count(), 0);
        assert_eq!(next.pending(), 1, "a relic has touched a stranger's entry");
        next.run_out();
        tenant.assert_fired();
        next.assert_empty();
    });
}

#[test]
fn loom_a_relic_is_dropped_while_the_next_driver_opens() {
    against_the_next_driver(|_| {});
}

#[test]
fn loom_a_relic_is_reset_while_the_next_driver_opens() {
    against_the_next_driver(|relic| relic.reset(20));
}

#[test]
fn loom_a_relic_is_extended_while_the_next_driver_opens() {
    against_the_next_driver(|relic| relic.reset(40));
}

#[test]
fn loom_a_relic_is_polled_while_the_next_driver_opens() {
    against_the_next_driver(|relic| drop(relic.poll_with_another()));
}

/// The next runtime's clock may be far ahead.
#[test]
fn loom_a_relic_is_not_elapsed_by_the_clock_of_the_next_driver() {
    check(|| {
        let model = Model::new(1);
        let mut timer = model.arm(0, 30);
        let other = model.spawn(|model| {
            model.close();
            model.home(0).open(Tick(1_000), 0);
        });
        // Ready would be too early. With another waker, the poll checks twice.
        let _ = unless_shut_down(|| timer.poll_with_another());
        other.join().unwrap();
    });
}

#[test]
fn loom_an_alarm_of_the_last_driver_and_arm() {
    check(|| {
        let last = Model::new(1);
        let gone = last.arm(0, 30);
        let waker = last.time.waker();
        last.close();
        let model = last.reopen();
        let other = model.spawn(|_| waker.wake());
        let timer = model.arm(0, 20);
        other.join().unwrap();
        model.run_out();
        timer.assert_fired();
        assert_released(gone);
        model.assert_empty();
    });
}

/// A pass is still under way when the next driver opens, whose clock may be behind.
#[test]
fn loom_a_pass_of_the_last_driver_and_arm() {
    check(|| {
        let model = Model::new(1);
        let gone = model.arm(0, 30);
        let other = model.spawn(|model| {
            model.close();
            let next = model.reopen();
            let tenant = next.arm(0, 60);
            (next, tenant)
        });
        model.driver.run_pass(model.generation, Tick(1_000));
        let (next, tenant) = other.join().unwrap();
        assert_eq!(tenant.wakes.count(), 0, "fired by a stranger's pass");
        assert_released(gone);
        next.assert_all_fire([tenant]);
    });
}
