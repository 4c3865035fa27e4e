//! The alarm. Its interval may fire late, early, spuriously, or while a thread is arming it. The driver
//! must always notice that the alarm has fired, and must not mistake an old firing for a later one.

use std::sync::Arc;
use std::task::Waker;

use super::model::{Model, Wakes, assert_dropped, check, shards};
use crate::clock::{MILLISECOND, Tick};
use crate::platform::fake;

/// While the alarm fires, this thread arms an earlier deadline, for which it re-arms the alarm.
#[test]
fn loom_alarm_and_rearm() {
    check(shards(2), |model| {
        let (due, later) = (model.arm(0, 10), model.arm(1, 30));
        let early = model.while_firing(10, || model.arm(1, 5));
        model.assert_all_fire([due, later, early]);
    });
}

#[test]
fn loom_a_late_alarm_and_rearm() {
    check(shards(2), |model| {
        let due = model.arm(0, 10);
        let [early, later] = model.while_firing(25, || [9, 40].map(|it| model.arm(1, it)));
        model.assert_all_fire([due, early, later]);
    });
}

/// An early alarm requests a pass. The driver task may be running then.
#[test]
fn loom_an_early_alarm_and_rearm() {
    check(shards(2), |model| {
        let later = model.arm(0, 30);
        let arm_and_poll = || {
            let early = model.arm(1, 20);
            model.poll_task();
            early
        };
        let (_, early) = model.race(|model| model.time.fire_early(), arm_and_poll);
        model.assert_all_fire([early, later]);
    });
}

#[test]
fn loom_a_spurious_alarm_and_rearm() {
    check(shards(2), |model| {
        let later = model.arm(0, 30);
        let waker = model.time.waker();
        let (_, early) = model.race(|_| waker.wake(), || model.arm(1, 20));
        model.assert_all_fire([early, later]);
    });
}

#[test]
fn loom_a_spurious_alarm_and_another() {
    check(shards(1), |model| {
        let timers = [10, 30].map(|deadline| model.arm(0, deadline));
        let waker = model.time.waker();
        model.race(|_| waker.wake(), || model.poll_at(10));
        model.assert_all_fire(timers);
    });
}

/// The alarm is late, so the driver task may run a pass first. That pass re-arms the alarm, which may
/// fire at the same time.
#[test]
fn loom_a_pass_and_a_late_alarm() {
    check(shards(2), |model| {
        let timers = [model.arm(0, 10), model.arm(1, 30)];
        fake::advance_to(Tick(12).to_instant());
        // Once a late alarm is re-armed, no timer that is due takes the fast path.
        model.driver.rearm();
        let fast_path_from = model.home(0).shard.fast_path_from();
        assert_eq!(fast_path_from, Tick(12 + MILLISECOND));
        model.race(|model| model.time.poll(), || model.poll_task());
        model.assert_all_fire(timers);
    });
}

/// The driver task fires the timers that are due, while another thread arms the next one.
#[test]
fn loom_a_pass_and_arm() {
    check(shards(2), |model| {
        let due = [10, 11].map(|deadline| model.arm(0, deadline));
        let later = model.arm(0, 30);
        fake::advance_to(Tick(12).to_instant());
        let (early, ()) = model.race(|model| model.arm(1, 20), || model.poll_task());
        while model.poll_task_if_woken() {}
        let fired = due.iter().all(|due| due.wakes.count() == 1);
        assert!(fired, "not fired by the driver task");
        model.assert_all_fire(due.into_iter().chain([later, early]));
    });
}

/// Arms the alarm for a timer that is then dropped.
fn arm_for_a_timer_that_is_gone(model: &Model) -> Arc<Wakes> {
    model.arm(0, 3).drop()
}

#[test]
fn loom_a_check_moves_the_alarm_of_a_timer_that_is_gone() {
    check(shards(2), |model| {
        let gone = arm_for_a_timer_that_is_gone(&model);
        model.home(0).try_rearm_after_cancel();
        let next = model.arm(1, 30);
        model.settle();
        assert_eq!(model.interval_fires_at(), Some(next.deadline));
        assert_dropped([gone], 0);
        model.assert_all_fire([next]);
    });
}

/// While `try_rearm_after_cancel` moves a dropped timer's alarm, another thread arms a timer.
#[test]
fn loom_a_check_and_arm() {
    check(shards(2), |model| {
        let gone = arm_for_a_timer_that_is_gone(&model);
        let check_and_arm = || {
            model.home(0).try_rearm_after_cancel();
            model.arm(0, 30)
        };
        let both = model.race(|model| model.arm(1, 20), check_and_arm);
        model.assert_all_fire(<[_; 2]>::from(both));
        assert_dropped([gone], 0);
    });
}

/// A thread stores an earlier deadline, and is preempted before it arms the alarm. The next timer of
/// the shard must then arm the alarm itself.
#[test]
fn loom_arm_behind_a_thread_that_has_not_set_the_alarm() {
    check(shards(1), |model| {
        let stored = model.home(0).shard.arm(Tick(10), Waker::noop().clone());
        assert!(stored.is_ok());
        let timer = model.arm(0, 20);
        let at = model.interval_fires_at();
        assert!(at.is_some_and(|at| at <= timer.deadline));
        model.assert_all_fire([timer]);
    });
}

/// A thread that was preempted may arm the alarm for a time that has passed. It retries for the next
/// tick and may be preempted again.
#[test]
fn loom_the_alarm_fires_while_it_is_armed() {
    check(shards(2), |model| {
        let due = model.arm(0, 20);
        let fire_twice = || [15, 18].map(|now| model.poll_at(now));
        let (early, _) = model.race_outside(|model| model.arm(1, 10), fire_twice);
        model.assert_all_fire([early, due]);
    });
}

#[test]
fn loom_arm_near_and_fire() {
    check(shards(1), |model| {
        model.know_the_grid();
        let due = [10, 10].map(|deadline| model.arm(0, deadline));
        let near = model.while_firing(10, || [11, 10].map(|it| model.arm(0, it)));
        model.assert_all_fire(due.into_iter().chain(near));
    });
}

#[test]
fn loom_arm_near_elsewhere_and_fire() {
    check(shards(2), |model| {
        model.know_the_grid();
        let due = model.arm(0, 10);
        let near = model.while_firing(10, || [10, 11].map(|it| model.arm(1, it)));
        model.assert_all_fire([due].into_iter().chain(near));
    });
}

/// `try_rearm_after_cancel` runs between two critical sections of a pass, and must change nothing. Then a
/// timer is armed.
#[test]
fn loom_arm_in_a_pass_after_a_check() {
    check(shards(1), |model| {
        model.know_the_grid();
        let due = [10, 10].map(|deadline| model.arm(0, deadline));
        let near = model.while_firing(10, || {
            model.home(0).try_rearm_after_cancel();
            model.arm(0, 11)
        });
        model.assert_all_fire(due.into_iter().chain([near]));
    });
}
