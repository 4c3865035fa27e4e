//! Firing, while the timer that fires is dropped, reset or polled: a timer that is
//! due is the driver's, any other its owner's, and no entry is freed twice.

use super::{Model, check};

#[test]
fn loom_drop_and_fire() {
    check(|| {
        let model = Model::new(1);
        let timer = model.arm(0, 10);
        let other = model.spawn(|model| model.poll_at(10));
        let wakes = timer.drop();
        other.join().unwrap();
        model.run_out();
        assert!(wakes.count() <= 1, "woken twice");
        assert!(wakes.is_freed(), "a waker is leaked");
        model.assert_empty();
    });
}

#[test]
fn loom_drop_and_fire_and_the_next_tenant_of_the_place() {
    check(|| {
        let model = Model::new(1);
        let timer = model.arm(0, 10);
        let other = model.spawn(|model| {
            model.poll_at(10);
            model.arm(0, 50)
        });
        let wakes = timer.drop();
        let tenant = other.join().unwrap();
        model.run_out();
        assert!(wakes.count() <= 1 && wakes.is_freed());
        tenant.assert_fired();
        model.assert_empty();
    });
}

#[test]
fn loom_drop_of_a_neighbour_and_fire() {
    check(|| {
        let model = Model::new(1);
        let due = model.arm(0, 10);
        let neighbour = model.arm(0, 20);
        let other = model.spawn(|model| model.poll_at(10));
        let wakes = neighbour.drop();
        other.join().unwrap();
        model.run_out();
        assert!(wakes.count() == 0 && wakes.is_freed());
        due.assert_fired();
        model.assert_empty();
    });
}

#[test]
fn loom_extend_and_fire() {
    check(|| {
        let model = Model::new(1);
        let mut timer = model.arm(0, 10);
        let other = model.spawn(|model| model.poll_at(10));
        timer.reset(40);
        other.join().unwrap();
        let seen = timer.wakes.count();
        assert_eq!(model.pending(), 1, "it waits for the later deadline");
        model.run_out();
        // A timer that fired unseen, and was then extended, has no waker to wake.
        assert_eq!(timer.wakes.count(), 1);
        assert!(seen == 1 || timer.wakes.at(0) == timer.deadline);
        assert!(timer.poll().is_ready());
        assert!(timer.drop().is_freed());
        model.assert_empty();
    });
}

#[test]
fn loom_move_earlier_and_fire() {
    check(|| {
        let model = Model::new(2);
        let due = model.arm(0, 10);
        let mut timer = model.arm(0, 40);
        let other = model.spawn(|model| model.poll_at(10));
        // The new deadline may have passed by the reset: then the reset fires the timer.
        timer.reset(9);
        other.join().unwrap();
        model.run_out();
        due.assert_fired();
        timer.assert_fired();
        model.assert_empty();
    });
}

#[test]
fn loom_reset_after_it_was_ready_and_fire() {
    check(|| {
        let model = Model::new(1);
        let mut timer = model.arm(0, 10);
        model.poll_at(10);
        assert!(timer.poll().is_ready());
        timer.keep();
        let due = model.arm(0, 20);
        let other = model.spawn(|model| model.poll_at(20));
        timer.reset(30);
        other.join().unwrap();
        model.run_out();
        due.assert_fired();
        assert_eq!(timer.wakes.count(), 2, "the kept waker is woken");
        assert!(timer.poll().is_ready());
        assert!(timer.drop().is_freed());
        model.assert_empty();
    });
}

#[test]
fn loom_poll_with_another_waker_and_fire() {
    check(|| {
        let model = Model::new(1);
        let mut timer = model.arm(0, 10);
        let other = model.spawn(|model| model.poll_at(10));
        let old = timer.poll_with_another();
        other.join().unwrap();
        model.run_out();
        assert_eq!(old.count() + timer.wakes.count(), 1, "woken once");
        assert!(old.is_freed(), "the old waker is leaked");
        if timer.ready {
            assert!(timer.poll().is_ready());
        } else {
            timer.assert_fired();
        }
        model.assert_empty();
    });
}

/// The alarm fires while the driver task runs a pass.
#[test]
fn loom_fire_and_fire() {
    check(|| {
        let model = Model::new(2);
        let timers = [model.arm(0, 10), model.arm(0, 11), model.arm(1, 10)];
        let other = model.spawn(|model| model.poll_at(11));
        model.poll_task();
        other.join().unwrap();
        model.run_out();
        timers.into_iter().for_each(|timer| timer.assert_fired());
        model.assert_empty();
    });
}
