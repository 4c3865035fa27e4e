//! The models: what two threads do at the same time.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::model::{Armed, Model, assert_dropped, check, current_thread, precise, shards};
use crate::clock::{MILLISECOND, Tick};
use crate::platform::fake;
use crate::settings::{MANY, PASS};

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
        let (early, _) = model.race(|model| model.arm(1, 10), || model.poll_at(30));
        model.assert_all_fire([early, late]);
    });
}

#[test]
fn loom_reset_to_earlier_during_a_pass() {
    check(shards(2), |model| {
        let (due, mut timer) = (model.arm(0, 10), model.arm(1, 40));
        model.while_firing(10, || timer.reset(20));
        model.assert_all_fire([due, timer]);
    });
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

/// The alarm is late, so the driver task may run a pass first. That pass re-arms the alarm, which may
/// fire at the same time.
#[test]
fn loom_a_pass_and_a_late_alarm() {
    check(shards(2), |model| {
        let timers = [model.arm(0, 10), model.arm(1, 30)];
        fake::advance_to(Tick(12));
        // Once a late alarm is re-armed, no timer that is due takes the fast path.
        model.driver.rearm();
        let fast_path_from = model.home(0).shard.fast_path_from();
        assert_eq!(fast_path_from, Tick(12 + MILLISECOND));
        model.race(|model| model.time.poll(), || model.poll_task());
        model.assert_all_fire(timers);
    });
}

/// A thread that was preempted may arm the alarm for a time that has passed. It retries for the next
/// tick and may be preempted again.
#[test]
fn loom_the_alarm_fires_while_it_is_armed() {
    check(shards(2), |model| {
        let due = model.arm(0, 20);
        let fire_twice = || [15, 18].map(|now| model.poll_at(now));
        let (early, _) = model.race(|model| model.arm(1, 10), fire_twice);
        model.assert_all_fire([early, due]);
    });
}

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

/// A pass defers a timer while another thread re-arms the alarm. The driver task does not come, so the
/// alarm must fire that timer.
#[test]
fn loom_defer_and_arm_while_the_driver_task_is_blocked() {
    check(shards(2), |model| {
        let due: Vec<_> = (0..=PASS).map(|_| model.arm(0, 10)).collect();
        let (_, later) = model.race(|model| model.poll_at(10), || model.arm(1, 20));
        while let Some(at) = model.interval_fires_at() {
            model.poll_at(at.0);
        }
        for timer in due.into_iter().chain([later]) {
            timer.assert_ready_after(1);
        }
    });
}

/// Each pass may end within the crowd of the shard that it begins with. If every pass began with that
/// shard, the other shard's timer would wait until the crowd is gone.
#[test]
fn loom_a_crowd_in_another_shard() {
    check(shards(2), |model| {
        let crowd: Vec<_> = (0..2 * MANY).map(|_| model.arm(0, 10)).collect();
        let alone = model.arm(1, 10);
        fake::advance_to(Tick(10));
        model.poll_task();
        model.poll_task();
        assert_eq!(alone.wakes.count(), 1);
        model.assert_all_fire(crowd.into_iter().chain([alone]));
    });
}

/// The driver task's pass may have an earlier time than the alarm's, and yet run later. It must not
/// move the clock back, because a timer that has fired would then count as pending.
#[test]
fn loom_two_passes_and_drop() {
    check(shards(1), |model| {
        let (due, later) = (model.arm(0, 10), model.arm(0, 11));
        fake::advance_to(Tick(10));
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

#[test]
fn loom_the_descriptor_fires_and_tokio_is_armed() {
    check(precise(2), |model| {
        let near = model.arm(0, 10);
        let arm = || [40, 12].map(|deadline| model.arm(1, deadline));
        let (_, later) = model.race(|model| model.descriptor_polled_at(10), arm);
        model.assert_all_fire([near].into_iter().chain(later));
    });
}

/// Returns `None` if `f` panics because the runtime has ended.
fn unless_shut_down<T>(f: impl FnOnce() -> T) -> Option<T> {
    let is_shut_down = |words: &&str| words.ends_with("being shutdown.");
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(value) => Some(value),
        Err(panic) if panic.downcast_ref().is_some_and(is_shut_down) => None,
        Err(panic) => resume_unwind(panic),
    }
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

/// Both threads act as the shard's worker: each entry is cached or removed, or its cancel is queued.
#[test]
fn loom_cache_and_cache() {
    check(shards(1), |model| {
        let other = |model: Model| model.arm(0, 50).drop();
        let (others, own) = model.race(other, || model.arm(0, 60).drop());
        model.assert_empty();
        assert_dropped([others, own], 0);
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

/// While the descriptor fires, the driver task arms the interval and consumes the record.
/// The next near deadline must set the descriptor again, because the wake-up of the first expiry
/// was delivered already.
#[test]
fn loom_the_descriptor_fires_while_the_interval_is_armed() {
    check(precise(1), |model| {
        let (due, far) = (model.arm(0, 10), model.arm(0, 40));
        fake::advance_to(Tick(10));
        let poll_io = |model: Model| model.descriptor_polled_at(10);
        let (_, near) = model.race(poll_io, || {
            model.poll_task();
            model.arm(0, 12)
        });
        model.assert_all_fire([due, far, near]);
    });
}

#[test]
fn loom_cancel_and_count() {
    check(shards(1), |model| {
        fake::go_elsewhere();
        let timer = model.arm(0, 60);
        let (pending, wakes) = model.race(|model| model.pending(), || timer.drop());
        assert_eq!(model.pending(), 0, "dropped, and counts as pending");
        assert!(pending <= 1);
        assert_dropped([wakes], 0);
    });
}

/// With batches of two, a cancel older than the pass is applied before its timer would fire,
/// whatever is queued meanwhile.
#[test]
fn loom_a_queued_cancel_and_two_more_and_fire() {
    check(shards(1), |model| {
        fake::go_elsewhere();
        let [queued, second, third] = [10, 60, 70].map(|deadline| model.arm(0, deadline));
        let queued = queued.drop();
        let others = model.while_firing(10, || [second, third].map(Armed::drop));
        assert_dropped([queued], 0);
        model.run_out();
        assert_dropped(others, 0);
        model.assert_empty();
    });
}
