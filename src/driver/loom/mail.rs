//! Cancels that find their shard busy: the letter is read by whoever holds the
//! shard, or by the turn that its writer asks for; no later than that.

use super::{Model, check};

#[test]
fn loom_mailbox_and_holder() {
    check(|| {
        let model = Model::new(1);
        let due = model.arm(0, 10);
        let timer = model.arm(0, 60);
        let other = model.spawn(|model| model.turn_at(10));
        let wakes = timer.drop();
        other.join().unwrap();
        // At this time, not when something next is due.
        model.settle();
        assert!(!model.has_mail(), "a cancel is still in the mail");
        assert_eq!(model.pending(), 0, "an entry is left");
        assert!(wakes.is_freed() && wakes.count() == 0);
        due.assert_fired();
    });
}

#[test]
fn loom_mailbox_and_a_holder_that_arms() {
    check(|| {
        let model = Model::new(1);
        let timer = model.arm(0, 60);
        let other = model.spawn(|model| model.arm(0, 50));
        let wakes = timer.drop();
        let armed = other.join().unwrap();
        model.settle();
        assert!(!model.has_mail(), "a cancel is still in the mail");
        assert_eq!(model.pending(), 1);
        assert!(wakes.is_freed() && wakes.count() == 0);
        model.run_out();
        armed.assert_fired();
        model.assert_empty();
    });
}

#[test]
fn loom_two_letters_and_a_holder() {
    check(|| {
        let model = Model::new(1);
        let due = model.arm(0, 10);
        let (first, second) = (model.arm(0, 60), model.arm(0, 61));
        let driver = model.spawn(|model| model.turn_at(10));
        let wakes = [first.drop(), second.drop()];
        driver.join().unwrap();
        model.settle();
        due.assert_fired();
        assert!(!model.has_mail(), "a cancel is still in the mail");
        assert_eq!(model.pending(), 0, "an entry is left");
        assert!(wakes.iter().all(|wakes| wakes.is_freed()));
    });
}
