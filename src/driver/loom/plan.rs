//! Arming: of all deadlines the earliest is armed, in whatever order they come.

use super::{Model, check};

#[test]
fn loom_arm_and_arm() {
    check(|| {
        let model = Model::new(2);
        let other = model.spawn(|model| model.arm(0, 20));
        let early = model.arm(1, 10);
        let late = other.join().unwrap();
        model.run_out();
        early.assert_fired();
        late.assert_fired();
        model.assert_empty();
    });
}

#[test]
fn loom_arm_and_arm_on_one_shard() {
    check(|| {
        let model = Model::new(1);
        let other = model.spawn(|model| model.arm(0, 20));
        let early = model.arm(0, 10);
        let late = other.join().unwrap();
        model.run_out();
        early.assert_fired();
        late.assert_fired();
    });
}

#[test]
fn loom_arm_earlier_while_the_driver_plans() {
    check(|| {
        let model = Model::new(2);
        let late = model.arm(0, 30);
        let other = model.spawn(|model| model.poll_task());
        let early = model.arm(1, 10);
        other.join().unwrap();
        model.run_out();
        early.assert_fired();
        late.assert_fired();
        model.assert_empty();
    });
}

#[test]
fn loom_arm_outside_the_runtime_while_the_driver_plans() {
    check(|| {
        let model = Model::new(2);
        let late = model.arm(0, 30);
        let other = model.spawn_outside(|model| model.arm(1, 10));
        model.poll_at(30);
        let early = other.join().unwrap();
        model.run_out();
        early.assert_fired();
        late.assert_fired();
        model.assert_empty();
    });
}

#[test]
fn loom_reset_to_earlier_while_the_driver_plans() {
    check(|| {
        let model = Model::new(2);
        let first = model.arm(0, 10);
        let mut timer = model.arm(1, 40);
        let other = model.spawn(|model| model.poll_at(10));
        timer.reset(20);
        other.join().unwrap();
        model.run_out();
        first.assert_fired();
        timer.assert_fired();
        model.assert_empty();
    });
}

/// On a paused clock the alarm of a timer that is gone would draw time.
#[test]
fn loom_drop_and_arm_where_the_clock_may_be_paused() {
    check(|| {
        let model = Model::current_thread();
        model.may_be_paused();
        let gone = model.arm(0, 10);
        let other = model.spawn(|model| model.arm(0, 30));
        let wakes = gone.drop();
        let late = other.join().unwrap();
        model.settle();
        assert_eq!(model.interval_fires_at(), Some(late.deadline));
        assert!(wakes.is_freed() && wakes.count() == 0);
        drop(late);
        model.settle();
        assert_eq!(model.interval_fires_at(), None);
        model.assert_empty();
    });
}

/// The same for a timer that was cached before the clock was found to be paused.
#[test]
fn loom_cache_and_arm_where_the_clock_may_be_paused() {
    check(|| {
        let model = Model::current_thread();
        let (left, gone) = (model.arm(0, 10), model.arm(0, 20));
        let left = left.drop();
        model.may_be_paused();
        let other = model.spawn(|model| model.arm(0, 30));
        let gone = gone.drop();
        let late = other.join().unwrap();
        model.settle();
        assert_eq!(model.interval_fires_at(), Some(late.deadline));
        assert!(left.is_freed() && gone.is_freed());
        model.assert_all_fire([late]);
    });
}
