//! The cached entry: used again or removed, in every race with a pass, a count or the end of the
//! driver.

use super::{Armed, Model, check};

/// A model with a timer on shard 0, to be cancelled by this thread.
fn with_one_left(deadline: u64) -> (Model, Armed) {
    let model = Model::new(1);
    let armed = model.arm(0, deadline);
    (model, armed)
}

#[test]
fn loom_cache_and_fire() {
    check(|| {
        let (model, timer) = with_one_left(60);
        let due = model.arm(0, 10);
        let other = model.spawn(|model| model.poll_at(10));
        let wakes = timer.drop();
        assert!(model.pending() <= 1, "what was left is counted");
        other.join().unwrap();
        model.run_out();
        due.assert_fired();
        model.assert_empty();
        assert!(wakes.is_freed() && wakes.count() == 0);
    });
}

#[test]
fn loom_use_again_and_fire() {
    check(|| {
        let (model, timer) = with_one_left(60);
        let due = model.arm(0, 10);
        let other = model.spawn(|model| model.poll_at(10));
        let next = timer.replace_by(&model, 90);
        other.join().unwrap();
        model.settle();
        assert_eq!(model.pending(), 1);
        due.assert_fired();
        model.run_out();
        next.assert_fired();
        model.assert_empty();
    });
}

#[test]
fn loom_use_again_and_fire_what_was_cached() {
    check(|| {
        let (model, timer) = with_one_left(10);
        let other = model.spawn(|model| model.poll_at(10));
        let next = timer.replace_by(&model, 90);
        other.join().unwrap();
        model.settle();
        assert_eq!(model.pending(), 1);
        model.run_out();
        // Woken for the first timer too, if the pass came before the drop.
        assert!((1..=2).contains(&next.wakes.count()));
        let wakes = next.drop();
        model.assert_empty();
        assert!(wakes.is_freed(), "a waker is leaked");
    });
}

/// The deadline comes before the timer: the timer fires, or is ready immediately.
#[test]
fn loom_use_again_for_a_deadline_that_comes() {
    check(|| {
        let (model, timer) = with_one_left(60);
        let due = model.arm(0, 10);
        let other = model.spawn(|model| model.poll_at(10));
        let mut next = timer.replace_by(&model, 10);
        other.join().unwrap();
        model.run_out();
        due.assert_fired();
        assert_eq!(next.wakes.count(), usize::from(!next.ready));
        assert!(next.poll().is_ready());
        let wakes = next.drop();
        model.assert_empty();
        assert!(wakes.is_freed(), "a waker is leaked");
    });
}

/// The next timer has another task's waker.
#[test]
fn loom_cache_and_arm_for_another_task_and_fire() {
    check(|| {
        let (model, timer) = with_one_left(60);
        let due = model.arm(0, 10);
        let other = model.spawn(|model| model.poll_at(10));
        let wakes = timer.drop();
        let next = model.arm(0, 90);
        other.join().unwrap();
        model.settle();
        due.assert_fired();
        assert_eq!(model.pending(), 1);
        model.run_out();
        next.assert_fired();
        model.assert_empty();
        assert!(wakes.is_freed() && wakes.count() == 0);
    });
}

#[test]
fn loom_use_again_to_an_earlier_deadline_and_plan() {
    check(|| {
        let (model, timer) = with_one_left(60);
        let other = model.spawn(|model| model.arm(0, 70));
        let next = timer.replace_by(&model, 50);
        let armed = other.join().unwrap();
        model.run_out();
        next.assert_fired();
        armed.assert_fired();
        model.assert_empty();
    });
}

#[test]
fn loom_cache_and_use_again_by_another_thread() {
    check(|| {
        let (model, timer) = with_one_left(60);
        let other = model.spawn(|model| model.arm(0, 50));
        let wakes = timer.drop();
        let armed = other.join().unwrap();
        assert_eq!(model.pending(), 1);
        model.run_out();
        armed.assert_fired();
        model.assert_empty();
        assert!(wakes.is_freed() && wakes.count() == 0);
    });
}

#[test]
fn loom_cache_and_shutdown() {
    check(|| {
        let (model, timer) = with_one_left(60);
        let other = model.spawn(|model| model.close());
        let wakes = timer.drop();
        other.join().unwrap();
        assert!(wakes.count() <= 1);
        assert!(wakes.is_freed(), "a waker is leaked");
    });
}

#[test]
fn loom_use_again_to_an_earlier_deadline_than_the_shards_and_fire() {
    check(|| {
        let model = Model::new(2);
        let (timer, near) = (model.arm(0, 60), model.arm(1, 20));
        let other = model.spawn(|model| model.poll_at(20));
        let next = timer.replace_by(&model, 50);
        other.join().unwrap();
        near.assert_fired();
        model.run_out();
        next.assert_fired();
        model.assert_empty();
    });
}

#[test]
fn loom_cache_two_and_fire() {
    check(|| {
        let (model, first) = with_one_left(60);
        let (second, due) = (model.arm(0, 61), model.arm(0, 10));
        let other = model.spawn(|model| model.poll_at(10));
        let wakes = [first.drop(), second.drop()];
        other.join().unwrap();
        model.settle();
        due.assert_fired();
        model.assert_empty();
        assert!(wakes.iter().all(|wakes| wakes.is_freed()));
    });
}

/// Two threads have the same worker's index for a while: each leaves a cancelled timer.
#[test]
fn loom_cache_and_cache() {
    check(|| {
        let model = Model::new(1);
        let other = model.spawn(|model| model.arm(0, 50).drop());
        let wakes = model.arm(0, 60).drop();
        let others = other.join().unwrap();
        model.assert_empty();
        assert!(wakes.is_freed() && others.is_freed());
    });
}

/// The same, and both arm again: a single thread takes over the cached entry.
#[test]
fn loom_use_again_and_use_again() {
    check(|| {
        let (model, timer) = with_one_left(60);
        let other = model.spawn(|model| model.arm(0, 50));
        let next = timer.replace_by(&model, 40);
        let others = other.join().unwrap();
        assert_eq!(model.pending(), 2);
        model.assert_all_fire([next, others]);
    });
}
