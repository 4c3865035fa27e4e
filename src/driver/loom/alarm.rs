//! The alarm, whose interval fires late, early, spuriously and re-entrantly. That it fired is never
//! forgotten, and never taken for a later time at which it fires.

use std::sync::Arc;
use std::task::Waker;

use super::model::Wakes;
use super::{Model, check, fake};
use crate::clock::Tick;

#[test]
fn loom_alarm_and_rearm() {
    check(|| {
        let model = Model::new(2);
        let due = model.arm(0, 10);
        let later = model.arm(1, 30);
        let other = model.spawn(|model| model.poll_at(10));
        // Earlier than planned: this thread sets the alarm too.
        let early = model.arm(1, 5);
        other.join().unwrap();
        model.assert_all_fire([due, later, early]);
    });
}

#[test]
fn loom_a_late_alarm_and_rearm() {
    check(|| {
        let model = Model::new(2);
        let due = model.arm(0, 10);
        let other = model.spawn(|model| model.poll_at(25));
        let later = model.arm(1, 9);
        let latest = model.arm(1, 40);
        other.join().unwrap();
        model.assert_all_fire([due, later, latest]);
    });
}

/// The driver task may be under way when the alarm requests a pass.
#[test]
fn loom_an_early_alarm_and_rearm() {
    check(|| {
        let model = Model::new(2);
        let later = model.arm(0, 30);
        let other = model.spawn(|model| model.time.fire_early());
        let early = model.arm(1, 20);
        model.poll_task();
        other.join().unwrap();
        model.assert_all_fire([early, later]);
    });
}

#[test]
fn loom_a_spurious_alarm_and_rearm() {
    check(|| {
        let model = Model::new(2);
        let later = model.arm(0, 30);
        let waker = model.time.waker();
        let other = model.spawn(|_| waker.wake());
        let early = model.arm(1, 20);
        other.join().unwrap();
        model.assert_all_fire([early, later]);
    });
}

#[test]
fn loom_a_spurious_alarm_and_another() {
    check(|| {
        let model = Model::new(1);
        let due = model.arm(0, 10);
        let later = model.arm(0, 30);
        let waker = model.time.waker();
        let other = model.spawn(|_| waker.wake());
        model.poll_at(10);
        other.join().unwrap();
        model.assert_all_fire([due, later]);
    });
}

/// The driver task, which was woken for a pass, is quicker than the alarm, and re-arms the alarm
/// while that fires.
#[test]
fn loom_a_pass_and_a_late_alarm() {
    check(|| {
        let model = Model::new(2);
        let due = model.arm(0, 10);
        let later = model.arm(1, 30);
        fake::advance_to(Tick(12).to_instant());
        let other = model.spawn(|model| model.time.poll());
        model.poll_task();
        let fast_path_from = model.home(0).shard.fast_path_from();
        assert!(fast_path_from > Tick(12), "a timer for now is fast");
        other.join().unwrap();
        model.assert_all_fire([due, later]);
    });
}

/// The same, while another thread arms an earlier timer.
#[test]
fn loom_a_pass_and_arm() {
    check(|| {
        let model = Model::new(2);
        let due = [model.arm(0, 10), model.arm(0, 11)];
        let later = model.arm(0, 30);
        fake::advance_to(Tick(12).to_instant());
        let other = model.spawn(|model| model.arm(1, 20));
        model.poll_task();
        let early = other.join().unwrap();
        while model.poll_task_if_woken() {}
        let fired = due.iter().all(|due| due.wakes.count() == 1);
        assert!(fired, "not fired by the look");
        model.assert_all_fire(due.into_iter().chain([later, early]));
    });
}

/// A model whose alarm is armed for a timer that is gone, and due soon.
fn with_a_timer_that_is_gone() -> (Model, Arc<Wakes>) {
    let model = Model::new(2);
    let gone = model.arm(0, 3).drop();
    (model, gone)
}

#[test]
fn loom_a_check_moves_the_alarm_of_a_timer_that_is_gone() {
    check(|| {
        let (model, gone) = with_a_timer_that_is_gone();
        model.leave_cancelled_out(0);
        let next = model.arm(1, 30);
        model.settle();
        assert_eq!(model.interval_fires_at(), Some(next.deadline));
        assert!(gone.is_freed() && gone.count() == 0);
        model.assert_all_fire([next]);
    });
}

/// A shard that another thread holds is left unchanged: the alarm fires once for nothing.
#[test]
fn loom_a_check_and_arm() {
    check(|| {
        let (model, gone) = with_a_timer_that_is_gone();
        let other = model.spawn(|model| model.arm(1, 20));
        model.leave_cancelled_out(0);
        let mine = model.arm(0, 30);
        let others = other.join().unwrap();
        model.assert_all_fire([mine, others]);
        assert!(gone.is_freed() && gone.count() == 0);
    });
}

/// A thread has announced an earlier deadline, and lost its processor before setting the alarm: no
/// later timer of the shard relies on that thread.
#[test]
fn loom_arm_behind_a_thread_that_has_not_set_the_alarm() {
    check(|| {
        let model = Model::new(1);
        let shard = &model.home(0).shard;
        let announced = shard.arm(Tick(10), Waker::noop().clone());
        assert!(announced.is_ok());
        let timer = model.arm(0, 20);
        assert!(
            model
                .interval_fires_at()
                .is_some_and(|at| at <= timer.deadline)
        );
        model.assert_all_fire([timer]);
    });
}

/// Elsewhere the time is not known, so the alarm may be set to a time that has passed; and once
/// more, for the thread may lose its processor again.
#[test]
fn loom_the_alarm_fires_while_it_is_armed() {
    check(|| {
        let model = Model::new(2);
        let due = model.arm(0, 20);
        let other = model.spawn_outside(|model| model.arm(1, 10));
        model.poll_at(15);
        model.poll_at(18);
        let early = other.join().unwrap();
        model.assert_all_fire([early, due]);
    });
}

/// A model in which no clock is read for timers that are due in the alarm's millisecond.
fn with_a_known_grid(shards: usize) -> Model {
    let model = Model::new(shards);
    model.driver.alarm.grid.find(|deadline| deadline == Tick(0));
    model
}

#[test]
fn loom_arm_for_the_alarms_millisecond_and_fire() {
    check(|| {
        let model = with_a_known_grid(1);
        let due = [model.arm(0, 10), model.arm(0, 10)];
        let other = model.spawn(|model| model.poll_at(10));
        let near = [model.arm(0, 11), model.arm(0, 10)];
        other.join().unwrap();
        model.assert_all_fire(due.into_iter().chain(near));
    });
}

#[test]
fn loom_arm_for_the_alarms_millisecond_elsewhere_and_fire() {
    check(|| {
        let model = with_a_known_grid(2);
        let due = model.arm(0, 10);
        let other = model.spawn(|model| model.poll_at(10));
        let near = [model.arm(1, 10), model.arm(1, 11)];
        other.join().unwrap();
        model.assert_all_fire([due].into_iter().chain(near));
    });
}

/// A check disarms the alarm while it fires: the millisecond after the shard's clock is the next.
#[test]
fn loom_arm_in_a_pass_after_a_check() {
    check(|| {
        let model = with_a_known_grid(1);
        let due = [model.arm(0, 10), model.arm(0, 10)];
        let other = model.spawn(|model| model.poll_at(10));
        model.leave_cancelled_out(0);
        let near = model.arm(0, 11);
        other.join().unwrap();
        model.assert_all_fire(due.into_iter().chain([near]));
    });
}
