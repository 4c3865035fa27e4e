//! Arming: whichever thread stores its deadline first, the alarm is armed for the earliest one.

use super::model::{assert_dropped, check, current_thread, reset_while_firing, shards};

#[test]
fn loom_arm_and_arm() {
    check(shards(2), |model| {
        let both = model.race(|model| model.arm(0, 20), || model.arm(1, 10));
        model.assert_all_fire(<[_; 2]>::from(both));
    });
}

#[test]
fn loom_arm_and_arm_on_one_shard() {
    check(shards(1), |model| {
        let both = model.race(|model| model.arm(0, 20), || model.arm(0, 10));
        model.assert_all_fire(<[_; 2]>::from(both));
    });
}

#[test]
fn loom_arm_earlier_during_a_pass() {
    check(shards(2), |model| {
        let late = model.arm(0, 30);
        let (_, early) = model.race(|model| model.poll_task(), || model.arm(1, 10));
        model.assert_all_fire([early, late]);
    });
}

#[test]
fn loom_arm_outside_the_runtime_during_a_pass() {
    check(shards(2), |model| {
        let late = model.arm(0, 30);
        let (early, _) = model.race_outside(|model| model.arm(1, 10), || model.poll_at(30));
        model.assert_all_fire([early, late]);
    });
}

#[test]
fn loom_reset_to_earlier_during_a_pass() {
    reset_while_firing(2, 1, &[20]);
}

/// If the alarm stayed armed for the timer that is gone, a paused clock would stop at its deadline.
#[test]
fn loom_drop_and_arm_where_the_clock_may_be_paused() {
    check(current_thread(1), |model| {
        model.set_may_pause();
        let gone = model.arm(0, 10);
        let (late, wakes) = model.race(|model| model.arm(0, 30), || gone.drop());
        model.settle();
        assert_eq!(model.interval_fires_at(), Some(late.deadline));
        assert_dropped([wakes], 0);
        drop(late);
        model.settle();
        assert_eq!(model.interval_fires_at(), None);
        model.assert_empty();
    });
}

#[test]
fn loom_extend_and_arm_where_the_clock_may_be_paused() {
    check(current_thread(1), |model| {
        model.set_may_pause();
        let mut timer = model.arm(0, 10);
        let (late, ()) = model.race(|model| model.arm(0, 30), || timer.reset(40));
        model.settle();
        assert_eq!(model.interval_fires_at(), Some(late.deadline));
        model.assert_all_fire([late, timer]);
    });
}

/// The entry of one timer was cached before the clock was found to be paused.
#[test]
fn loom_cache_and_arm_where_the_clock_may_be_paused() {
    check(current_thread(1), |model| {
        let (left, gone) = (model.arm(0, 10), model.arm(0, 20));
        let left = left.drop();
        model.set_may_pause();
        let (late, gone) = model.race(|model| model.arm(0, 30), || gone.drop());
        model.settle();
        assert_eq!(model.interval_fires_at(), Some(late.deadline));
        assert_dropped([left, gone], 0);
        model.assert_all_fire([late]);
    });
}
