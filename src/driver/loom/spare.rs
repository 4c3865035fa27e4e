//! The timer that a shard's worker cancelled last, left for its next one: it is used again
//! or gone, whatever a turn, a count or the end of the driver does meanwhile.

use std::sync::Arc;

use super::model::Wakes;
use super::shutdown::unless_shut_down;
use super::{Armed, Model, check};

/// A model in which this thread has a spare on shard 0, and a timer left in it.
fn with_one_left(deadline: u64) -> (Model, Armed) {
    let model = Model::new(1);
    model.own(0);
    let armed = model.arm(0, deadline);
    (model, armed)
}

#[test]
fn loom_leave_and_fire() {
    check(|| {
        let (model, timer) = with_one_left(60);
        let due = model.arm(0, 10);
        let other = model.spawn(|model| model.turn_at(10));
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
        let other = model.spawn(|model| model.turn_at(10));
        let next = timer.replace_by(&model, 90);
        other.join().unwrap();
        assert_eq!(model.pending(), 1);
        due.assert_fired();
        model.run_out();
        next.assert_fired();
        model.assert_empty();
    });
}

#[test]
fn loom_use_again_and_fire_what_was_left() {
    check(|| {
        let (model, timer) = with_one_left(10);
        let other = model.spawn(|model| model.turn_at(10));
        let next = timer.replace_by(&model, 90);
        other.join().unwrap();
        assert_eq!(model.pending(), 1);
        model.run_out();
        // Woken for the first one too, if its turn came before it was let go.
        assert!((1..=2).contains(&next.wakes.count()));
        let wakes = next.drop();
        model.assert_empty();
        assert!(wakes.is_freed(), "a waker is leaked");
    });
}

/// The deadline comes before the timer does: it is fired, or ready at once.
#[test]
fn loom_use_again_for_a_deadline_that_comes() {
    check(|| {
        let (model, timer) = with_one_left(60);
        let due = model.arm(0, 10);
        let other = model.spawn(|model| model.turn_at(10));
        let mut next = timer.replace_by(&model, 10);
        other.join().unwrap();
        model.settle();
        due.assert_fired();
        assert_eq!(next.wakes.count(), usize::from(!next.ready));
        assert!(next.poll().is_ready());
        let wakes = next.drop();
        model.assert_empty();
        assert!(wakes.is_freed(), "a waker is leaked");
    });
}

/// The next timer has another task's waker: what was left is taken out.
#[test]
fn loom_leave_and_arm_for_another_task_and_fire() {
    check(|| {
        let (model, timer) = with_one_left(60);
        let due = model.arm(0, 10);
        let other = model.spawn(|model| model.turn_at(10));
        let wakes = timer.drop();
        let next = model.arm(0, 90);
        other.join().unwrap();
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
fn loom_leave_and_use_again_by_another_thread() {
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
fn loom_leave_and_shutdown() {
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
fn loom_what_was_left_to_a_driver_is_not_used_in_the_next() {
    check(|| {
        let (model, timer) = with_one_left(60);
        let other = model.spawn(|model| {
            model.close();
            let next = model.reopen();
            let armed = next.arm(0, 60);
            (next, armed)
        });
        let relic = timer.drop();
        let (model, armed) = other.join().unwrap();
        let mine = model.arm(0, 70);
        // The claim outlasts the driver.
        let gone = model.arm(0, 80).drop();
        assert_eq!(model.pending(), 2);
        assert!(gone.is_freed());
        model.run_out();
        armed.assert_fired();
        mine.assert_fired();
        model.assert_empty();
        assert!(relic.is_freed(), "a waker is leaked");
    });
}

#[test]
fn loom_use_again_to_an_earlier_deadline_than_the_shards_and_fire() {
    check(|| {
        let model = Model::new(2);
        model.own(0);
        let (timer, near) = (model.arm(0, 60), model.arm(1, 20));
        let other = model.spawn(|model| model.turn_at(20));
        let next = timer.replace_by(&model, 50);
        other.join().unwrap();
        near.assert_fired();
        model.run_out();
        next.assert_fired();
        model.assert_empty();
    });
}

#[test]
fn loom_leave_two_and_fire() {
    check(|| {
        let (model, first) = with_one_left(60);
        let (second, due) = (model.arm(0, 61), model.arm(0, 10));
        let other = model.spawn(|model| model.turn_at(10));
        let wakes = [first.drop(), second.drop()];
        other.join().unwrap();
        model.settle();
        due.assert_fired();
        assert_eq!(model.pending(), 0);
        assert!(wakes.iter().all(|wakes| wakes.is_freed()));
    });
}

/// A worker becomes the shard's own thread at any time.
#[test]
fn loom_own_and_fire() {
    check(|| {
        let model = Model::new(1);
        let due = model.arm(0, 10);
        let other = model.spawn(|model| model.turn_at(10));
        assert!(model.own(0));
        let wakes = model.arm(0, 60).drop();
        other.join().unwrap();
        model.settle();
        due.assert_fired();
        model.assert_empty();
        assert!(wakes.is_freed() && wakes.count() == 0);
    });
}

/// Two threads have the same worker's index for a while: one of them has the spare.
#[test]
fn loom_own_and_own() {
    check(|| {
        let model = Model::new(1);
        let other = model.spawn(|model| {
            model.own(0);
            model.arm(0, 50).drop()
        });
        model.own(0);
        let wakes = model.arm(0, 60).drop();
        let others = other.join().unwrap();
        model.assert_empty();
        assert!(wakes.is_freed() && others.is_freed());
    });
}

#[test]
fn loom_own_and_shutdown() {
    check(|| {
        let model = Model::new(1);
        let timer = model.arm(0, 60);
        let other = model.spawn(|model| {
            model.close();
            let next = model.reopen();
            next.own(0);
            (next.arm(0, 60), next.arm(0, 61).drop(), next)
        });
        model.own(0);
        let relic = timer.drop();
        let (armed, gone, next) = other.join().unwrap();
        assert_eq!(next.pending(), 1, "a relic has touched a stranger's entry");
        next.run_out();
        armed.assert_fired();
        next.assert_empty();
        assert!(relic.is_freed() && gone.is_freed(), "a waker is leaked");
    });
}

/// A thread that goes to another shard leaves what is in the spare of the last one.
#[test]
fn loom_own_another_shard_and_fire() {
    check(|| {
        let model = Model::new(2);
        model.own(0);
        let (timer, due) = (model.arm(0, 60), model.arm(0, 10));
        let far = model.arm(0, 61);
        let wakes = timer.drop();
        let other = model.spawn(|model| model.turn_at(10));
        assert!(model.own(1));
        // One is a stranger's cancel by now, the other one is left.
        let wakes = [wakes, far.drop(), model.arm(1, 70).drop()];
        other.join().unwrap();
        model.settle();
        due.assert_fired();
        model.assert_empty();
        let gone = |wakes: &Arc<Wakes>| wakes.is_freed() && wakes.count() == 0;
        assert!(wakes.iter().all(gone));
    });
}

/// The shard that it leaves may be another thread's at once.
#[test]
fn loom_own_another_shard_and_own() {
    check(|| {
        let model = Model::new(2);
        model.own(0);
        let (left, far) = (model.arm(0, 60).drop(), model.arm(0, 61));
        let other = model.spawn(|model| {
            model.own(0);
            model.arm(0, 50).drop()
        });
        assert!(model.own(1));
        let gone = [left, far.drop(), model.arm(1, 70).drop()];
        let others = other.join().unwrap();
        model.assert_empty();
        assert!(gone.iter().all(|wakes| wakes.is_freed()) && others.is_freed());
    });
}

/// A proof that comes late: a thread takes itself for the worker of a driver that ends,
/// makes its timers there and claims the spare, while the next one opens.
#[test]
fn loom_a_proof_that_comes_late() {
    check(|| {
        let model = Model::new(1);
        let other = model.spawn(|model| {
            model.close();
            let next = model.reopen();
            next.own(0);
            let tenant = next.arm(0, 60);
            (next.arm(0, 61).drop(), tenant, next)
        });
        model.own(0);
        let mut relic = model.unpolled(0, 30);
        let _ = unless_shut_down(|| relic.poll());
        let relic = relic.drop();
        let (left, tenant, next) = other.join().unwrap();
        assert!(relic.is_freed(), "a waker is leaked");
        assert_eq!(next.pending(), 1, "a relic has touched a stranger's entry");
        next.run_out();
        tenant.assert_fired();
        next.assert_empty();
        assert!(left.is_freed(), "a waker is leaked");
    });
}
