//! Two sources: the descriptor fires for near deadlines, tokio's interval for far deadlines. If
//! either fires while the other is being set, nothing is lost.
//!
//! Here 15 ns are near, and tokio fires 5 ns ahead; see `alarm/interval.rs`.

use super::{Model, check, fake};
use crate::clock::Tick;

#[test]
fn loom_precise_arm_and_arm() {
    check(|| {
        let model = Model::precise(2);
        let far = model.spawn(|model| model.arm(0, 30));
        let near = model.arm(1, 10);
        let far = far.join().unwrap();
        model.assert_all_fire([near, far]);
    });
}

#[test]
fn loom_the_descriptor_fires_and_is_set() {
    check(|| {
        let model = Model::precise(2);
        let due = model.arm(0, 10);
        let later = model.arm(1, 13);
        let other = model.spawn(|model| model.descriptor_polled_at(10));
        let early = model.arm(1, 5);
        other.join().unwrap();
        model.assert_all_fire([due, later, early]);
    });
}

#[test]
fn loom_tokio_fires_and_the_descriptor_is_set() {
    check(|| {
        let model = Model::precise(2);
        let far = model.arm(0, 30);
        let other = model.spawn(|model| model.poll_at(25));
        let near = model.arm(1, 10);
        other.join().unwrap();
        model.assert_all_fire([far, near]);
    });
}

#[test]
fn loom_the_descriptor_fires_and_tokio_is_armed() {
    check(|| {
        let model = Model::precise(2);
        let near = model.arm(0, 10);
        let other = model.spawn(|model| model.descriptor_polled_at(10));
        let far = model.arm(1, 40);
        let between = model.arm(1, 12);
        other.join().unwrap();
        model.assert_all_fire([near, far, between]);
    });
}

/// The driver task has fired the due timer, and has set the descriptor again, when tokio delivers
/// the wake-up before. That takes the waker; and the task may then wait behind a task that blocks.
#[test]
fn loom_an_old_wakeup_of_the_descriptor_does_not_disarm_it() {
    check(|| {
        let model = Model::precise(1);
        let due = model.arm(0, 10);
        let later = model.arm(0, 20);
        fake::advance_to(Tick(10).to_instant());
        let other = model.spawn(|model| model.descriptor_polled_at(10));
        model.poll_task();
        other.join().unwrap();
        model.fire_without_the_task();
        model.fire_without_the_task();
        assert_eq!(later.wakes.count(), 1, "nothing was set");
        model.assert_all_fire([due, later]);
    });
}

#[test]
fn loom_the_descriptor_fires_and_shutdown() {
    check(|| {
        let model = Model::precise(1);
        let timer = model.arm(0, 10);
        let other = model.spawn(|model| model.close());
        model.descriptor_polled_at(10);
        other.join().unwrap();
        assert_eq!(timer.wakes.count(), 1);
        assert!(timer.drop().is_freed(), "a waker is leaked");
    });
}
