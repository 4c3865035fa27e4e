//! A timer is dropped, reset or polled while a pass may fire it. An entry belongs to its timer
//! until it is due, and then to the driver. No entry is freed twice.

use super::model::{Armed, Model, assert_dropped, check, reset_while_firing, shards};
use crate::clock::Tick;
use crate::platform::fake;

#[test]
fn loom_drop_and_fire() {
    check(shards(1), |model| {
        let timer = model.arm(0, 10);
        let wakes = model.while_firing(10, || timer.drop());
        model.run_out();
        assert_dropped([wakes], 1);
        model.assert_empty();
    });
}

/// The thread that fires the timer arms another one, which may get the same key.
fn fire_and_arm(model: Model) -> Armed {
    model.poll_at(10);
    model.arm(0, 50)
}

#[test]
fn loom_drop_and_fire_and_the_next_timer_with_the_key() {
    check(shards(1), |model| {
        let timer = model.arm(0, 10);
        let (next, wakes) = model.race(fire_and_arm, || timer.drop());
        model.assert_all_fire([next]);
        assert_dropped([wakes], 1);
    });
}

/// The new timer may get the key of the timer that has fired. The reset must not extend the new timer.
#[test]
fn loom_extend_and_fire_and_arm() {
    check(shards(1), |model| {
        let mut timer = model.arm(0, 10);
        let (next, ()) = model.race(fire_and_arm, || timer.reset(60));
        model.run_out();
        next.assert_fired();
        timer.assert_ready_after(1);
        model.assert_empty();
    });
}

#[test]
fn loom_drop_of_a_neighbour_and_fire() {
    check(shards(1), |model| {
        let (due, neighbour) = (model.arm(0, 10), model.arm(0, 20));
        let wakes = model.while_firing(10, || neighbour.drop());
        model.assert_all_fire([due]);
        assert_dropped([wakes], 0);
    });
}

/// A timer that has fired before it is extended has no waker to wake at its new deadline.
#[test]
fn loom_extend_and_fire() {
    check(shards(1), |model| {
        let mut timer = model.arm(0, 10);
        model.while_firing(10, || timer.reset(40));
        let seen = timer.wakes.count();
        assert_eq!(model.pending(), 1, "it waits for the later deadline");
        model.run_out();
        assert!(seen == 1 || timer.wakes.at(0) == timer.deadline);
        timer.assert_ready_after(1);
        model.assert_empty();
    });
}

/// If the new deadline has passed when the timer is reset, the reset fires the timer.
#[test]
fn loom_reset_to_the_past_and_fire() {
    reset_while_firing(2, 0, &[9]);
}

/// The timer keeps the waker of the poll that was ready, and wakes it at the new deadline.
#[test]
fn loom_reset_after_it_was_ready_and_fire() {
    check(shards(1), |model| {
        let mut timer = model.arm(0, 10);
        model.poll_at(10);
        assert!(timer.poll().is_ready());
        timer.keep();
        let due = model.arm(0, 20);
        model.while_firing(20, || timer.reset(30));
        model.run_out();
        due.assert_fired();
        timer.assert_ready_after(2);
        model.assert_empty();
    });
}

#[test]
fn loom_poll_with_another_waker_and_fire() {
    check(shards(1), |model| {
        let mut timer = model.arm(0, 10);
        let old = model.while_firing(10, || timer.poll_with_another());
        model.run_out();
        let (olds, new) = (old.count(), timer.wakes.count());
        assert_eq!(olds + new, 1, "one of the two wakers is woken, once");
        assert!(new == 1 || timer.ready, "the last waker is not woken");
        assert_dropped([old], 1);
        timer.assert_ready_after(new);
        model.assert_empty();
    });
}

/// The alarm fires while the driver task runs a pass.
#[test]
fn loom_fire_and_fire() {
    check(shards(2), |model| {
        let timers = [(0, 10), (0, 11), (1, 10)];
        let timers = timers.map(|(shard, deadline)| model.arm(shard, deadline));
        model.while_firing(11, || model.poll_task());
        model.assert_all_fire(timers);
    });
}

/// The driver task's pass may have an earlier time than the alarm's, and yet run later. It must not
/// move the clock back, because a timer that has fired would then count as pending.
#[test]
fn loom_two_passes_and_drop() {
    check(shards(1), |model| {
        let (due, later) = (model.arm(0, 10), model.arm(0, 11));
        fake::advance_to(Tick(10).to_instant());
        let wakes = model.while_firing(11, || {
            model.poll_task();
            later.drop()
        });
        model.run_out();
        due.assert_fired();
        assert_dropped([wakes], 1);
        model.assert_empty();
    });
}
